// Package scripts tests the setup script on machines made of stubs.
package scripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is a directory that stands for a machine: PATH is its bin, and the
// script looks for everything else below it.
type machine struct {
	t    *testing.T
	root string
	env  []string
}

// basics are what any machine has.
var basics = []string{"sh", "sed", "grep", "sort", "tail", "rm", "rmdir", "mkdir", "tee", "env", "mktemp", "readlink", "cat", "chmod", "true"}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, root: t.TempDir()}
	require.NoError(t, os.MkdirAll(m.path("bin"), 0o755))
	for _, name := range basics {
		file, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(file, m.path("bin", name)))
	}
	m.program("bin/uname", "echo Linux")
	m.program("bin/id", "echo 0")
	m.program("bin/go", "echo go1.26.8")
	return m
}

func (m *machine) path(parts ...string) string {
	return filepath.Join(append([]string{m.root}, parts...)...)
}

// program writes a shell script that notes its call in the file calls.
func (m *machine) program(name, script string) {
	m.t.Helper()
	file := m.path(name)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(file), 0o755))
	text := fmt.Sprintf("#!/bin/sh\necho \"%s $*\" >>%s\n%s\n", filepath.Base(name), m.path("calls"), script)
	require.NoError(m.t, os.WriteFile(file, []byte(text), 0o755))
}

func (m *machine) postgres(dir, version string) {
	for _, tool := range []string{"initdb", "postgres", "pg_ctl"} {
		m.program(filepath.Join(dir, tool), "echo 'postgres (PostgreSQL) "+version+" (Debian)'")
	}
}

// debian gives it apt-get, which installs what apt-cache offers.
func (m *machine) debian(offered ...string) {
	m.program("bin/apt-cache", `case $3 in
*0-9*) printf '%s - a server\n' `+strings.Join(offered, " ")+` | grep '^postgresql-' ;;
*) echo 'postgresql - any version' ;;
esac`)
	m.program("bin/apt-get", `[ "$1" = install ] || exit 0
cat `+m.path("etc/postgresql-common/createcluster.d/zz-shop-setup.conf")+` >>`+m.path("cluster")+` 2>/dev/null
for name in "$@"; do
	case $name in
	postgresql-*) dir=`+m.root+`/usr/lib/postgresql/${name#postgresql-}/bin
		mkdir -p "$dir"
		for tool in initdb postgres pg_ctl; do
			printf '#!/bin/sh\necho "postgres (PostgreSQL) %s.1"\n' "${name#postgresql-}" >"$dir/$tool"
			chmod 755 "$dir/$tool"
		done ;;
	chromium | git | gcc) printf '#!/bin/sh\n' >`+m.root+`/bin/$name; chmod 755 `+m.root+`/bin/$name ;;
	esac
done`)
}

func (m *machine) ordinaryUser(sudo string) {
	m.program("bin/id", "echo 1000")
	if sudo != "" {
		m.program("bin/sudo", sudo)
	}
}

const (
	sudoWithoutPassword = `shift; exec "$@"`
	sudoWithPassword    = `exit 1`
)

func (m *machine) setup(args ...string) (code int, said string) {
	m.t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"setup.sh"}, args...)...)
	cmd.Env = append([]string{"PATH=" + m.path("bin"), "SETUP_ROOT=" + m.root, "HOME=" + m.root, "TMPDIR=" + m.root}, m.env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(m.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (m *machine) calls(prefix string) []string {
	text, _ := os.ReadFile(m.path("calls"))
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// The tests are not parallel: a child that is being forked may hold a stub open
// for writing, and then the kernel does not execute it.

func TestSetup_AllThere(t *testing.T) {
	m := newMachine(t)
	m.debian()
	for _, name := range []string{"git", "gcc", "google-chrome"} {
		m.program("bin/"+name, "")
	}
	m.postgres("usr/lib/postgresql/15/bin", "15.13")
	for _, mode := range []string{"demo", "test"} {
		code, said := m.setup(mode)
		require.Zero(t, code, said)
		require.Empty(t, said)
	}
	require.Empty(t, m.calls("apt"), "nothing is asked of the network")
}

func TestSetup_PostgresElsewhere(t *testing.T) {
	for name, prepare := range map[string]func(*machine){
		"PATH":         func(m *machine) { m.postgres("bin", "17.1") },
		"link in PATH": func(m *machine) { m.postgres("opt/pg", "17.1"); link(m, "opt/pg/postgres", "bin/postgres") },
		"pg_config": func(m *machine) {
			m.postgres("opt/pg", "17.1")
			m.program("bin/pg_config", "echo "+m.path("opt/pg"))
		},
		"Homebrew":           func(m *machine) { m.postgres("opt/homebrew/opt/postgresql@16/bin", "16.1") },
		"SHOP_PG_BIN":        func(m *machine) { m.postgres("my", "18beta1"); m.env = []string{"SHOP_PG_BIN=" + m.path("my")} },
		"parent of bin":      func(m *machine) { m.postgres("my/bin", "15.0"); m.env = []string{"SHOP_PG_BIN=" + m.path("my")} },
		"left to the demo":   func(m *machine) { m.env = []string{"SHOP_PG_DOWNLOAD=1"} },
		"an old one as well": func(m *machine) { m.postgres("bin", "13.1"); m.postgres("usr/lib/postgresql/15/bin", "15.1") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			prepare(m)
			code, said := m.setup("demo")
			require.Zero(t, code, said)
			require.Empty(t, said)
		})
	}
}

func link(m *machine, from, to string) {
	require.NoError(m.t, os.Symlink(m.path(from), m.path(to)))
}

func TestSetup_InstallsOnDebian(t *testing.T) {
	for name, prepare := range map[string]func(*machine){
		"root": func(*machine) {},
		"sudo": func(m *machine) { m.ordinaryUser(sudoWithoutPassword) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.debian("postgresql-9", "postgresql-15", "postgresql-100", "postgresql-17")
			m.postgres("usr/lib/postgresql/14/bin", "14.2")
			prepare(m)
			code, said := m.setup("demo")
			require.Zero(t, code, said)
			require.Equal(t, "Installing postgresql-100\n", said)
			require.Equal(t, []string{"apt-get update -q", "apt-get install -y -q --no-install-recommends postgresql-100"}, m.calls("apt-get"))
			cluster, err := os.ReadFile(m.path("cluster"))
			require.NoError(t, err)
			require.Equal(t, "create_main_cluster = false\n", string(cluster), "while it installs")
			require.NoDirExists(t, m.path("etc/postgresql-common/createcluster.d"), "and no longer")

			code, said = m.setup("demo")
			require.Zero(t, code)
			require.Empty(t, said, "the second time there is nothing to do")
			require.Len(t, m.calls("apt-get"), 2)
		})
	}
}

func TestSetup_InstallsForTests(t *testing.T) {
	m := newMachine(t)
	m.debian("postgresql-15")
	code, said := m.setup("test")
	require.Zero(t, code, said)
	require.Equal(t, []string{"apt-get install -y -q --no-install-recommends postgresql-15 chromium git gcc libc6-dev"}, m.calls("apt-get install"))
}

func TestSetup_SaysWhatToType(t *testing.T) {
	for name, tc := range map[string]struct {
		mode    string
		prepare func(*machine)
		want    []string
	}{
		"no sudo": {"demo", func(m *machine) { m.debian("postgresql-15"); m.ordinaryUser("") },
			[]string{"Missing: postgres", "sudo apt-get update && sudo apt-get install --no-install-recommends postgresql-15"}},
		"sudo with a password": {"test", func(m *machine) { m.debian("postgresql-15"); m.ordinaryUser(sudoWithPassword) },
			[]string{"Missing: postgres chromium git compiler", "install --no-install-recommends postgresql-15 chromium git gcc libc6-dev"}},
		"no lists yet": {"demo", func(m *machine) { m.debian(); m.program("bin/apt-cache", ""); m.ordinaryUser("") },
			[]string{"install --no-install-recommends postgresql\n"}},
		"only an old version on offer": {"demo", func(m *machine) { m.debian("postgresql-14") },
			[]string{"does not offer: postgres", "apt.postgresql.org.sh", "SHOP_PG_DOWNLOAD=1"}},
		"apt fails": {"demo", func(m *machine) {
			m.debian("postgresql-15")
			m.program("bin/apt-get", `[ "$1" = update ] || { echo "E: disk full"; exit 100; }`)
		}, []string{"E: disk full", "sudo apt-get install"}},
		"apt succeeds without effect": {"demo", func(m *machine) { m.debian("postgresql-15"); m.program("bin/apt-get", "") },
			[]string{"Still missing after the installation: postgres"}},
		"Ubuntu's Chromium without snap": {"test", func(m *machine) {
			m.debian("postgresql-15")
			require.NoError(m.t, os.MkdirAll(m.path("etc"), 0o755))
			require.NoError(m.t, os.WriteFile(m.path("etc/os-release"), []byte("NAME=Ubuntu\nID=ubuntu\n"), 0o644))
		}, []string{"does not offer: chromium", "google-chrome-stable_current_amd64.deb"}},
		"another system": {"test", func(*machine) {},
			[]string{"sudo dnf install postgresql-server chromium git gcc glibc-devel", "sudo apk add postgresql chromium git gcc musl-dev", "SHOP_PG_BIN"}},
		"macOS without Homebrew": {"demo", func(m *machine) { m.program("bin/uname", "echo Darwin") }, []string{"https://brew.sh"}},
		"macOS as root": {"demo", func(m *machine) { m.program("bin/uname", "echo Darwin"); m.program("bin/brew", "") },
			[]string{"brew install postgresql@17"}},
		"wrong SHOP_PG_BIN": {"demo", func(m *machine) {
			m.env = []string{"SHOP_PG_BIN=/nowhere"}
			m.postgres("usr/lib/postgresql/15/bin", "15.1")
		},
			[]string{"SHOP_PG_BIN is /nowhere", "/usr/lib/postgresql/17/bin"}},
		"old Go":       {"demo", func(m *machine) { m.program("bin/go", "echo go1.25.9") }, []string{"Go is go1.25.9", "1.26 or newer", "https://go.dev/dl/"}},
		"broken Go":    {"demo", func(m *machine) { m.program("bin/go", "exit 1") }, []string{"of an unknown version"}},
		"no Go":        {"demo", func(m *machine) { _ = os.Remove(m.path("bin/go")) }, []string{"Go 1.26 or newer is missing", "https://go.dev/dl/"}},
		"Go elsewhere": {"demo", func(m *machine) { _ = os.Remove(m.path("bin/go")); m.program("usr/local/go/bin/go", "") }, []string{`export PATH="$PATH:`}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			tc.prepare(m)
			code, said := m.setup(tc.mode)
			require.Equal(t, 1, code, said)
			for _, want := range tc.want {
				require.Contains(t, said, want)
			}
			require.NoFileExists(t, m.path("etc/postgresql-common/createcluster.d/zz-shop-setup.conf"))
		})
	}
}

func TestSetup_Homebrew(t *testing.T) {
	m := newMachine(t)
	m.ordinaryUser("")
	m.program("bin/uname", "echo Darwin")
	m.program("bin/brew", "dir="+m.path("opt/homebrew/opt/postgresql@17/bin")+`
mkdir -p "$dir"
for tool in initdb postgres pg_ctl; do printf '#!/bin/sh\necho "postgres (PostgreSQL) 17.2 (Homebrew)"\n' >"$dir/$tool"; chmod 755 "$dir/$tool"; done`)
	code, said := m.setup("demo")
	require.Zero(t, code, said)
	require.Equal(t, []string{"brew install postgresql@17"}, m.calls("brew"))
}

func TestSetup_NewerGo(t *testing.T) {
	for _, version := range []string{"go1.26.0", "go1.27rc1", "go1.100", "go2.0", "devel go1.27-abc"} {
		m := newMachine(t)
		m.postgres("usr/lib/postgresql/15/bin", "15.1")
		m.program("bin/go", "echo "+version)
		code, said := m.setup("demo")
		require.Zero(t, code, "%s: %s", version, said)
	}
}

func TestSetup_Usage(t *testing.T) {
	m := newMachine(t)
	for _, args := range [][]string{nil, {"prod"}, {"demo", "test"}, {""}} {
		code, said := m.setup(args...)
		require.Equal(t, 2, code)
		require.Contains(t, said, "usage:")
	}
}
