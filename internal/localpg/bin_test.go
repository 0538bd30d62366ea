package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeBin makes a directory with tools that claim a version.
func fakeBin(t *testing.T, dir, version string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s (Distro %s-1)'\n", version, version)
	for _, tool := range tools {
		writeScript(t, filepath.Join(dir, tool), script)
	}
	return dir
}

func writeScript(t *testing.T, file, script string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(script), 0o755))
}

// Not parallel: the kernel does not execute a script that a child which another
// test is just forking still holds open for writing.
func TestFindBin_Order(t *testing.T) {
	root := t.TempDir()
	onPath := fakeBin(t, filepath.Join(root, "path"), "16.3")
	old := fakeBin(t, filepath.Join(root, "old"), "14.9")
	v9 := fakeBin(t, filepath.Join(root, "lib/9/bin"), "9.6")
	v15 := fakeBin(t, filepath.Join(root, "lib/15/bin"), "15.13")
	v100 := fakeBin(t, filepath.Join(root, "lib/100/bin"), "100beta1")
	links := filepath.Join(root, "links")
	require.NoError(t, os.Mkdir(links, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(v15, "postgres"), filepath.Join(links, "postgres")))
	config := filepath.Join(root, "config")
	writeScript(t, filepath.Join(config, "pg_config"), "#!/bin/sh\n[ \"$1\" = --bindir ] && echo "+onPath+"\n")
	lib := filepath.Join(root, "lib/*/bin")

	for name, tc := range map[string]struct {
		explicit, path string
		places         []string
		major          int
		want           string
	}{
		"explicit wins":           {v15, onPath, []string{lib}, 0, v15},
		"explicit parent":         {filepath.Dir(v15), onPath, []string{lib}, 0, v15},
		"PATH":                    {"", old + ":" + onPath, []string{lib}, 0, onPath},
		"PATH by symlink":         {"", links, []string{lib}, 0, v15},
		"pg_config":               {"", old + ":" + config, []string{lib}, 0, onPath},
		"newest, as a number":     {"", old, []string{lib}, 0, v100},
		"the version of the data": {"", onPath, []string{lib}, 15, v15},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := finder{path: tc.path, places: tc.places}.find(tc.explicit, tc.major)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}

	t.Run("nothing fits", func(t *testing.T) {
		_, err := finder{path: old, places: []string{v9, "/nowhere/*/bin"}}.find("", 0)
		var none *NotFoundError
		require.ErrorAs(t, err, &none)
		for _, want := range []string{
			"no PostgreSQL 15 or newer", "PATH: " + old + " holds PostgreSQL 14", "PostgreSQL 9", "/nowhere/*/bin: nothing there",
			"install", "SHOP_PG_BIN",
		} {
			require.ErrorContains(t, err, want)
		}
	})
	t.Run("explicit is wrong", func(t *testing.T) {
		incomplete := t.TempDir()
		for dir, want := range map[string]string{
			old:        "holds PostgreSQL 14, expected 15 or newer",
			incomplete: "has no initdb",
			"/nowhere": "has no initdb",
		} {
			_, err := finder{path: onPath}.find(dir, 0)
			require.ErrorContains(t, err, "SHOP_PG_BIN is \""+dir)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "/usr/lib/postgresql/17/bin")
		}
	})
	t.Run("not executable, not a version", func(t *testing.T) {
		dir := fakeBin(t, filepath.Join(root, "odd"), "15.1")
		require.NoError(t, os.Chmod(filepath.Join(dir, "initdb"), 0o644))
		_, err := finder{}.find(dir, 0)
		require.ErrorContains(t, err, "cannot be executed")
		require.NoError(t, os.Chmod(filepath.Join(dir, "initdb"), 0o755))
		require.NoError(t, os.Remove(filepath.Join(dir, "postgres")))
		writeScript(t, filepath.Join(dir, "postgres"), "#!/bin/sh\necho hello\n")
		_, err = finder{}.find(dir, 0)
		require.ErrorContains(t, err, `answered "hello"`)
	})
}

func TestFindBin_OnThisMachine(t *testing.T) {
	t.Parallel()
	bin, err := FindBin(os.Getenv("SHOP_PG_BIN"))
	require.NoError(t, err)
	major, err := majorOf(bin)
	require.NoError(t, err)
	require.GreaterOrEqual(t, major, MinMajor)
}
