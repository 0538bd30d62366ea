package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tools are the programs a directory must hold to be usable.
var tools = []string{"initdb", "postgres", "pg_ctl"}

// places are where packages put server binaries, tried after PATH. Within a
// pattern the highest version comes first.
var places = []string{
	"/usr/lib/postgresql/*/bin",                               // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                        // PGDG on Fedora and RHEL
	"/usr/lib/postgresql*/bin",                                // openSUSE
	"/usr/libexec/postgresql*",                                // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",                      // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",                         // Homebrew on Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",         // Homebrew on Linux
	"/Applications/Postgres.app/Contents/Versions/[0-9]*/bin", // Postgres.app
}

// NotFoundError says that no usable PostgreSQL was found. Its text names every
// place that was looked at and what to type.
type NotFoundError struct {
	Searched []string // one line for each place, with what was wrong there
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no PostgreSQL %d or newer found (needed: %s); looked at:\n  %s\n%s",
		MinMajor, strings.Join(tools, ", "), strings.Join(e.Searched, "\n  "), howToInstall())
}

// FindBin returns the directory with the PostgreSQL server binaries, version
// MinMajor or newer.
//
// explicit (the value of SHOP_PG_BIN) is the only place looked at if it is not
// empty. Otherwise: each directory of PATH, symlinks followed; what `pg_config
// --bindir` prints; then the places where Debian, PGDG, openSUSE, Alpine,
// Homebrew and Postgres.app install, newest version first. If nothing fits,
// the error is a *NotFoundError, or names SHOP_PG_BIN if that was given.
func FindBin(explicit string) (string, error) {
	return finder{path: os.Getenv("PATH"), places: places}.find(explicit, 0)
}

// finder is the search with its inputs, so that a test can give its own.
type finder struct {
	path   string
	places []string
}

// find looks for binaries of the given major version, or of any from MinMajor
// up if major is 0.
func (f finder) find(explicit string, major int) (string, error) {
	if explicit != "" {
		var problem error
		for _, dir := range []string{explicit, filepath.Join(explicit, "bin")} {
			resolved, err := checkBin(dir, major)
			if err == nil {
				return resolved, nil
			}
			if problem == nil {
				problem = err
			}
		}
		return "", fmt.Errorf("SHOP_PG_BIN is %q: %w; expected a directory like /usr/lib/postgresql/17/bin", explicit, problem)
	}
	var searched []string
	seen := map[string]bool{}
	try := func(from, dir string) (string, bool) {
		if seen[dir] {
			return "", false
		}
		seen[dir] = true
		resolved, err := checkBin(dir, major)
		if err != nil {
			searched = append(searched, fmt.Sprintf("%s: %v", from, err))
			return "", false
		}
		return resolved, true
	}
	for _, dir := range filepath.SplitList(f.path) {
		file := filepath.Join(dir, "postgres")
		if _, err := os.Stat(file); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(file); err == nil {
			file = resolved
		}
		if bin, ok := try("PATH", filepath.Dir(file)); ok {
			return bin, nil
		}
	}
	if len(searched) == 0 {
		searched = append(searched, "PATH: no directory in it holds postgres")
	}
	if dir := f.pgConfigBindir(); dir != "" {
		if bin, ok := try("pg_config --bindir", dir); ok {
			return bin, nil
		}
	}
	for _, pattern := range f.places {
		dirs, _ := filepath.Glob(pattern)
		slices.SortFunc(dirs, func(a, b string) int { return numberIn(b) - numberIn(a) })
		if len(dirs) == 0 {
			searched = append(searched, pattern+": nothing there")
		}
		for _, dir := range dirs {
			if bin, ok := try(pattern, dir); ok {
				return bin, nil
			}
		}
	}
	return "", &NotFoundError{Searched: searched}
}

// pgConfigBindir asks the pg_config of f.path. It may be there without a
// server (Debian's libpq-dev has it), hence it is one place to look, no proof.
func (f finder) pgConfigBindir() string {
	for _, dir := range filepath.SplitList(f.path) {
		file := filepath.Join(dir, "pg_config")
		if info, err := os.Stat(file); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, file, "--bindir").Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	return ""
}

// checkBin tells whether dir holds the tools in a fitting version.
func checkBin(dir string, major int) (string, error) {
	for _, tool := range tools {
		info, err := os.Stat(filepath.Join(dir, tool))
		switch {
		case errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("%s has no %s", dir, tool)
		case err != nil:
			return "", fmt.Errorf("looking for %s: %w", tool, err)
		case info.IsDir() || info.Mode()&0o111 == 0:
			return "", fmt.Errorf("%s in %s cannot be executed", tool, dir)
		}
	}
	got, err := majorOf(dir)
	switch {
	case err != nil:
		return "", err
	case got < MinMajor:
		return "", fmt.Errorf("%s holds PostgreSQL %d, expected %d or newer", dir, got, MinMajor)
	case major != 0 && got != major:
		return "", fmt.Errorf("%s holds PostgreSQL %d, expected %d", dir, got, major)
	}
	return dir, nil
}

// majorOf asks the server binary for its version. The answer looks like
// "postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)" or "… 18beta1".
func majorOf(dir string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Dir, cmd.Env = "/", environment(dir)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("asking %s/postgres for its version: %w", dir, err)
	}
	_, version, _ := strings.Cut(string(out), ") ")
	if n := numberIn(version); n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%s/postgres answered %q when asked for its version", dir, strings.TrimSpace(string(out)))
}

// numberIn is the first decimal number in s, 0 if there is none.
func numberIn(s string) int {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		return 0
	}
	digits := s[start:]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits)
	return n
}

// howToInstall is the line to type on this machine.
func howToInstall() string {
	line := "install the PostgreSQL server with your package manager"
	if runtime.GOOS == "darwin" {
		line = "install it with: brew install postgresql@17"
	} else {
		for _, manager := range [][2]string{
			{"apt-get", "sudo apt-get install --no-install-recommends postgresql"},
			{"dnf", "sudo dnf install postgresql-server"},
			{"zypper", "sudo zypper install postgresql-server"},
			{"apk", "sudo apk add postgresql"},
			{"pacman", "sudo pacman -S postgresql"},
		} {
			if _, err := exec.LookPath(manager[0]); err == nil {
				line = "install it with: " + manager[1]
				break
			}
		}
	}
	return line + "\nor set SHOP_PG_BIN to the directory that holds " + strings.Join(tools, ", ")
}
