package localpg

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a Maven repository with the one thing that is asked of it.
type repository struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newRepository(t *testing.T, answer http.HandlerFunc) *repository {
	r := &repository{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, req.URL.Path)
		r.mu.Unlock()
		answer(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *repository) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.asked...)
}

// nothingFound is a machine without PostgreSQL.
func nothingFound(t *testing.T, repository string) fetcher {
	return fetcher{finder: finder{path: t.TempDir(), places: []string{"/nowhere/*"}}, repository: repository,
		cache: filepath.Join(reachableDir(t), "cache")}
}

func TestFetch_FailureSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRepository(t, http.NotFound)
	f := nothingFound(t, r.URL)
	c := testConfig(t)
	_, err := start(within(t, soon), c, f)
	var none *NotFoundError
	require.ErrorAs(t, err, &none)
	for _, want := range []string{"no PostgreSQL 15 or newer found", "/nowhere/*", "SHOP_PG_BIN",
		"downloading it instead failed: PostgreSQL 18", "no version found matching 18"} {
		require.ErrorContains(t, err, want)
	}
	require.Len(t, r.requests(), 1)
	require.Regexp(t, `^/io/zonky/test/postgres/embedded-postgres-binaries-\w+-[\w-]+/18\.\d+\.0/embedded-postgres-binaries-[\w-]+-18\.\d+\.0\.jar$`,
		r.requests()[0])
	left, _ := filepath.Glob(filepath.Join(f.cache, "*"))
	require.Empty(t, left)
}

func TestFetch_NoNetwork(t *testing.T) {
	t.Parallel()
	r := newRepository(t, http.NotFound)
	r.Close()
	_, err := start(within(t, soon), testConfig(t), nothingFound(t, r.URL))
	require.ErrorContains(t, err, "it needs the network, once")
	require.ErrorContains(t, err, "unable to connect")
}

func TestFetch_ContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	r := newRepository(t, func(http.ResponseWriter, *http.Request) { cancel(); <-release })
	t.Cleanup(func() { close(release) })
	_, err := start(ctx, testConfig(t), nothingFound(t, r.URL))
	require.ErrorIs(t, err, context.Canceled)
}

func TestFetch_ExplicitDirectoryIsNotReplaced(t *testing.T) {
	t.Parallel()
	r := newRepository(t, http.NotFound)
	c := testConfig(t)
	c.BinDir = "/nowhere"
	_, err := start(within(t, soon), c, nothingFound(t, r.URL))
	require.ErrorContains(t, err, `SHOP_PG_BIN is "/nowhere"`)
	require.Empty(t, r.requests())
}

func TestFetch_DownloadsOnceAndRuns(t *testing.T) {
	t.Parallel()
	real, err := FindBin(os.Getenv("SHOP_PG_BIN"))
	require.NoError(t, err)
	jar := jarWithLinkTo(t, real)
	r := newRepository(t, func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, ".jar") {
			_, _ = w.Write(jar)
			return
		}
		http.NotFound(w, req)
	})
	f := nothingFound(t, r.URL)
	for range 2 {
		cluster, err := start(within(t, soon), testConfig(t), f)
		require.NoError(t, err)
		require.Equal(t, 1, query[int](t, cluster.URL("postgres"), `SELECT 1`))
		mustStop(t, cluster)
	}
	require.Len(t, r.requests(), 2, "the archive and its checksum, once")
	left, _ := filepath.Glob(filepath.Join(f.cache, "*"))
	require.Len(t, left, 1)
	require.FileExists(t, filepath.Join(left[0], "bin", "initdb"))

	_, err = f.fetch(within(t, soon), 12, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "no download for PostgreSQL 12")
}

// jarWithLinkTo packs what the repository serves: a zip with a tar.xz. The
// binaries in it are links to those of this machine.
func jarWithLinkTo(t *testing.T, bin string) []byte {
	t.Helper()
	var tarball bytes.Buffer
	tw := tar.NewWriter(&tarball)
	for _, tool := range tools {
		require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + tool, Linkname: filepath.Join(bin, tool)}))
	}
	require.NoError(t, tw.Close())
	var jar bytes.Buffer
	zw := zip.NewWriter(&jar)
	file, err := zw.Create("postgres-linux-x86_64.txz")
	require.NoError(t, err)
	_, err = file.Write(xz(t, tarball.Bytes()))
	require.NoError(t, errors.Join(err, zw.Close()))
	return jar.Bytes()
}

// xz wraps data in the xz format without compressing it, as far as one LZMA2
// chunk goes. https://tukaani.org/xz/xz-file-format.txt
func xz(t *testing.T, data []byte) []byte {
	t.Helper()
	require.LessOrEqual(t, len(data), 1<<16)
	sum := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }
	flags := []byte{0, 1} // check: CRC32
	out := append([]byte("\xfd7zXZ\x00"), flags...)
	out = append(out, sum(flags)...)

	header := []byte{2, 0, 0x21, 1, 0x16, 0, 0, 0} // 12 bytes; one filter: LZMA2, 8 MiB
	block := append(header, sum(header)...)
	n := len(data) - 1
	block = append(block, 1, byte(n>>8), byte(n)) // uncompressed, dictionary reset
	block = append(append(block, data...), 0)
	unpadded := len(block) + 4
	block = append(pad(block), sum(data)...)
	out = append(out, block...)

	index := []byte{0, 1}
	index = binary.AppendUvarint(index, uint64(unpadded))
	index = pad(binary.AppendUvarint(index, uint64(len(data))))
	index = append(index, sum(index)...)
	out = append(out, index...)

	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	return append(append(append(out, sum(footer)...), footer...), "YZ"...)
}
