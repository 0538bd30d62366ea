package assets

import (
	"compress/gzip"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func TestURL_CarriesTheHashOfTheContent(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^/assets/app\.css\?v=[0-9a-f]{10}$`, URL("app.css"))
	require.Regexp(t, `^/assets/products/enamel-mug\.svg\?v=[0-9a-f]{10}$`, URL("products/enamel-mug.svg"))
	require.Equal(t, "/assets/no-such.css", URL("no-such.css"))

	one, err := newFile("a.css", []byte("a{}"))
	require.NoError(t, err)
	two, err := newFile("a.css", []byte("b{}"))
	require.NoError(t, err)
	require.NotEqual(t, one.version, two.version)
}

func TestHandler_KeepsOnlyTheRightVersionForEver(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		URL("app.css"):             "public, max-age=31536000, immutable",
		"/assets/app.css":          "no-cache",
		"/assets/app.css?v=000000": "no-cache",
	} {
		res := get(t, target)
		require.Equal(t, http.StatusOK, res.StatusCode, target)
		require.Equal(t, want, res.Header.Get("Cache-Control"), target)
		require.Empty(t, res.Header.Get("Last-Modified"))
	}
}

func TestHandler_SetsTypes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"app.css": "text/css; charset=utf-8", "checkout.js": "text/javascript; charset=utf-8",
		"favicon.svg": "image/svg+xml", "products/wall-clock.svg": "image/svg+xml",
	} {
		res := get(t, URL(name))
		require.Equal(t, want, res.Header.Get("Content-Type"), name)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"), name)
	}
}

func TestHandler_AnswersNotModified(t *testing.T) {
	t.Parallel()
	tag := get(t, "/assets/app.css").Header.Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, get(t, "/assets/app.css", "If-None-Match", tag).StatusCode)
	require.Equal(t, http.StatusOK, get(t, "/assets/app.css", "If-None-Match", `"old"`).StatusCode)
}

func TestHandler_CompressesWhenAsked(t *testing.T) {
	t.Parallel()
	plain := get(t, URL("app.css"))
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	want, err := io.ReadAll(plain.Body)
	require.NoError(t, err)

	zipped := get(t, URL("app.css"), "Accept-Encoding", "br, gzip;q=0.8")
	require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
	require.NotEqual(t, plain.Header.Get("ETag"), zipped.Header.Get("ETag"), "two encodings, two tags")
	require.Equal(t, "Accept-Encoding", zipped.Header.Get("Vary"))
	r, err := gzip.NewReader(zipped.Body)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, want, got)

	require.Empty(t, get(t, URL("app.css"), "Accept-Encoding", "gzip;q=0, br").Header.Get("Content-Encoding"))
}

func TestHandler_RefusesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/assets/", "/assets/none.css", "/assets/products", "/assets/../assets.go", "/assets/assets.go", "/assets/%2e%2e/go.mod"} {
		require.Equal(t, http.StatusNotFound, get(t, target).StatusCode, target)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, URL("app.css"), nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}

func TestHandler_AnswersHeadWithoutBody(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, httptest.NewRequest(http.MethodHead, URL("app.css"), nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Zero(t, w.Body.Len())
}

func TestStylesheet_StaysSmallAndLoadsNothing(t *testing.T) {
	t.Parallel()
	require.Less(t, len(all["app.css"].plain), 20_000)
	for _, name := range []string{"app.css", "admin.css"} {
		css := string(all[name].plain)
		require.NotContains(t, css, "url(", name)
		require.NotContains(t, css, "@import", name)
		require.Equal(t, strings.Count(css, "{"), strings.Count(css, "}"), name)
	}
}

// The pictures are shown from an img element, where nothing outside of them
// loads and no script runs; they must not need either.
func TestPictures_AreWellFormedAndAlone(t *testing.T) {
	t.Parallel()
	products := 0
	for name, f := range all {
		if !strings.HasSuffix(name, ".svg") {
			continue
		}
		if strings.HasPrefix(name, "products/") {
			products++
			require.Lessf(t, len(f.plain), 16_000, "%s is large", name)
		}
		dec := xml.NewDecoder(strings.NewReader(string(f.plain)))
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, name)
			if start, ok := token.(xml.StartElement); ok {
				require.NotEqual(t, "script", start.Name.Local, name)
				for _, a := range start.Attr {
					require.Falsef(t, a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#"), "%s loads %s", name, a.Value)
				}
			}
		}
	}
	require.Equal(t, 12, products)
}
