// Package assets holds what the pages load besides their HTML: the stylesheets,
// the scripts, the mark and the pictures. All of it is in the binary.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"strings"
)

//go:embed *.css *.js *.svg products/*.svg
var files embed.FS

// file is one asset, ready to be sent.
type file struct {
	contentType string
	version     string // first ten hex digits of the content's SHA-256
	plain, zip  []byte
}

// types are set here because the system's MIME table differs between machines.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// all is read once at start; a broken embed is a broken build, hence the panic.
var all = func() map[string]file {
	m, err := readAll(files)
	if err != nil {
		panic(err)
	}
	return m
}()

// URL is the address of an asset, with its version: "/assets/app.css?v=…". A
// browser may keep what it finds there for ever. The name of a file that does
// not exist gives an address that answers 404.
func URL(name string) string {
	f, ok := all[name]
	if !ok {
		return "/assets/" + name
	}
	return "/assets/" + name + "?v=" + f.version
}

func readAll(fsys fs.FS) (map[string]file, error) {
	m := map[string]file{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		m[name], err = newFile(name, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading embedded assets: %w", err)
	}
	return m, nil
}

func newFile(name string, content []byte) (file, error) {
	sum := sha256.Sum256(content)
	f := file{contentType: types[path.Ext(name)], version: hex.EncodeToString(sum[:])[:10], plain: content}
	if f.contentType == "" {
		f.contentType = mime.TypeByExtension(path.Ext(name))
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return file{}, fmt.Errorf("compressing %s: %w", name, err)
	}
	if _, err := w.Write(content); err != nil {
		return file{}, fmt.Errorf("compressing %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return file{}, fmt.Errorf("compressing %s: %w", name, err)
	}
	if zipped.Len() < len(content) {
		f.zip = zipped.Bytes()
	}
	return f, nil
}

// lookup finds a file by the path of a request.
func lookup(urlPath string) (file, bool) {
	f, ok := all[strings.TrimPrefix(urlPath, "/assets/")]
	return f, ok
}
