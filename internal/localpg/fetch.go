package localpg

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetched are the versions that can be downloaded, newest first.
var fetched = []embeddedpostgres.PostgresVersion{
	embeddedpostgres.V18, embeddedpostgres.V17, embeddedpostgres.V16, embeddedpostgres.V15,
}

// fetcher looks for binaries and knows where to download them from if the
// search finds none.
type fetcher struct {
	finder     finder
	repository string // Maven repository; empty means the library's own choice
	cache      string // directory that keeps what was downloaded
}

func defaultFetch() fetcher {
	f := fetcher{finder: finder{path: os.Getenv("PATH"), places: places}}
	// As root another account runs the binaries, and home directories are
	// closed to it.
	f.cache = "/var/lib/shop"
	if os.Geteuid() != 0 {
		if dir, err := os.UserCacheDir(); err == nil {
			f.cache = filepath.Join(dir, "shop")
		} else {
			f.cache = filepath.Join(os.TempDir(), fmt.Sprintf("shop-cache-%d", os.Geteuid()))
		}
	}
	return f
}

// fetch returns the bin directory of downloaded binaries, from the cache if
// they are there. It needs the network once.
func (f fetcher) fetch(ctx context.Context, major int, log *slog.Logger) (string, error) {
	version := fetched[0]
	if major != 0 {
		version = ""
		for _, v := range fetched {
			if numberIn(string(v)) == major {
				version = v
			}
		}
		if version == "" {
			return "", fmt.Errorf("there is no download for PostgreSQL %d", major)
		}
	}
	home := filepath.Join(f.cache, "postgresql-"+string(version))
	bin := filepath.Join(home, "bin")
	if _, err := checkBin(bin, 0); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(f.cache, 0o755); err != nil {
		return "", fmt.Errorf("making directory for downloads: %w", err)
	}
	if err := isOurs(f.cache); err != nil {
		return "", err
	}
	staging, err := os.MkdirTemp(f.cache, "download-")
	if err != nil {
		return "", fmt.Errorf("making directory for downloads: %w", err)
	}
	// The library cannot be interrupted. If ctx ends first, the directory is
	// removed when the library is through with it.
	log.Info("no PostgreSQL found on this machine: downloading it, once", "version", string(version), "to", home)
	result := make(chan error, 1)
	go func() {
		err := f.download(version, staging, home)
		_ = os.RemoveAll(staging)
		result <- err
	}()
	select {
	case err = <-result:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("PostgreSQL %s: %w", version, err)
	}
	return bin, nil
}

// download has embedded-postgres fetch, verify and unpack the binaries. The
// library offers this only as the first part of starting a server, which would
// refuse root; so it is given a data directory that it takes for complete and
// whose start fails at once. That failure is the sign that the rest went well.
func (f fetcher) download(version embeddedpostgres.PostgresVersion, staging, home string) error {
	data := filepath.Join(staging, "data")
	unpacked := filepath.Join(staging, "unpacked")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), fmt.Appendf(nil, "%d\n", numberIn(string(version))), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().Version(version).Port(uint32(port)).
		CachePath(filepath.Join(staging, "archive")).RuntimePath(filepath.Join(staging, "runtime")).
		DataPath(data).BinariesPath(unpacked).Logger(io.Discard)
	if f.repository != "" {
		config = config.BinaryRepositoryURL(f.repository)
	}
	database := embeddedpostgres.NewDatabase(config)
	err = database.Start()
	if err == nil {
		err = database.Stop()
	} else if strings.HasPrefix(err.Error(), "could not start postgres") {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("downloading (it needs the network, once): %w", err)
	}
	if _, err := checkBin(filepath.Join(unpacked, "bin"), 0); err != nil {
		return fmt.Errorf("the download does not run on this machine: %w", err)
	}
	if err := os.Rename(unpacked, home); err != nil {
		if _, check := checkBin(filepath.Join(home, "bin"), 0); check == nil {
			return nil // another process was faster
		}
		return fmt.Errorf("keeping the download: %w", err)
	}
	return nil
}
