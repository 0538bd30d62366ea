// Package dbtest gives each test a migrated PostgreSQL database of its own,
// cloned from a template. A failing test keeps its database and prints where
// it is.
package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver through which pgtestdb connects
	"github.com/peterldowns/pgtestdb"

	"shop/internal/database"
	"shop/internal/localpg"
	"shop/migrations"
)

// server is a throwaway cluster for a test binary that was started without
// TEST_DATABASE_URL. It is tethered, so that it ends with this process.
var server = sync.OnceValues(func() (string, error) {
	if u := os.Getenv("TEST_DATABASE_URL"); u != "" {
		return u, nil
	}
	dir, err := os.MkdirTemp("", "shop-test-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the test cluster: %w", err)
	}
	cluster, err := localpg.Start(context.Background(), localpg.Config{DataDir: dir, BinDir: os.Getenv("SHOP_PG_BIN"),
		Tether: true, Ephemeral: true, Settings: map[string]string{"fsync": "off", "synchronous_commit": "off",
			"full_page_writes": "off", "max_connections": "300"}})
	if err != nil {
		return "", err
	}
	return cluster.URL("postgres"), nil
})

// New returns a pool on a database of the test's own.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, _ := Open(t)
	return pool
}

// Open returns a pool on a database of the test's own and the URL of that database.
func Open(t testing.TB) (*pgxpool.Pool, string) {
	t.Helper()
	dbURL := Clone(t)
	pool, err := database.Open(context.Background(), dbURL, database.Options{Name: "test"})
	if err != nil {
		t.Fatalf("opening the test database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool, dbURL
}

// Clone makes a database of the test's own and returns its URL, for tests that
// start processes.
func Clone(t testing.TB) string {
	t.Helper()
	base, err := server()
	if err != nil {
		t.Fatalf("starting PostgreSQL for tests: %v", err)
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatalf("reading TEST_DATABASE_URL %q: %v", base, err)
	}
	password, _ := u.User.Password()
	conf := pgtestdb.Custom(t, pgtestdb.Config{DriverName: "pgx", Host: u.Hostname(), Port: u.Port(), User: u.User.Username(),
		Password: password, Database: u.Path[1:], Options: "sslmode=disable", ForceTerminateConnections: true}, schema{})
	return conf.URL()
}

// schema migrates the template with the same code as production.
type schema struct{}

// Hash changes whenever a migration does, and with it the template.
func (schema) Hash() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(migrations.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migrations.Files, path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

func (schema) Migrate(ctx context.Context, _ *sql.DB, conf pgtestdb.Config) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	pool, err := database.Open(ctx, conf.URL(), database.Options{})
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = database.Migrate(ctx, pool)
	return err
}
