package mailsim

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// inbox is a running server and both its doors.
type inbox struct {
	*Server
	t    *testing.T
	smtp string // address
	web  string // origin
}

func startInbox(t *testing.T, c Config) *inbox {
	t.Helper()
	c.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	server, err := New(c)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.ServeSMTP(l) }()
	web := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		web.Close()
		require.NoError(t, server.Close())
		select {
		case err := <-served:
			require.NoError(t, err)
		case <-time.After(10 * time.Second):
			t.Error("ServeSMTP does not return after Close")
		}
	})
	return &inbox{Server: server, t: t, smtp: l.Addr().String(), web: web.URL}
}

func mail(subject, messageID string) string {
	return "From: Shop <shop@example.com>\r\nTo: ada@example.com\r\nSubject: " + subject + "\r\nMessage-ID: <" + messageID + ">\r\n\r\nHello\r\n"
}

// send delivers a message as it is, by a client of the standard library.
func (i *inbox) send(raw string, to ...string) error {
	if len(to) == 0 {
		to = []string{"ada@example.com"}
	}
	return smtp.SendMail(i.smtp, nil, "shop@example.com", to, []byte(raw))
}

func (i *inbox) mustSend(raw string, to ...string) {
	i.t.Helper()
	require.NoError(i.t, i.send(raw, to...))
}

func (i *inbox) request(method, path, body string, header ...string) *http.Response {
	i.t.Helper()
	r, err := http.NewRequest(method, i.web+path, strings.NewReader(body))
	require.NoError(i.t, err)
	for n := 0; n+1 < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	require.NoError(i.t, err)
	content, err := io.ReadAll(answer.Body)
	require.NoError(i.t, err)
	require.NoError(i.t, answer.Body.Close())
	answer.Body = io.NopCloser(bytes.NewReader(content))
	return answer
}

func body(t *testing.T, answer *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(content)
}

type listAnswer struct {
	Total    int          `json:"total"`
	Messages []apiMessage `json:"messages"`
}

func get[T any](i *inbox, path string) T {
	i.t.Helper()
	answer := i.request("GET", path, "")
	require.Equal(i.t, http.StatusOK, answer.StatusCode, path)
	require.Equal(i.t, "application/json", answer.Header.Get("Content-Type"))
	var v T
	require.NoError(i.t, json.NewDecoder(answer.Body).Decode(&v))
	return v
}

func (i *inbox) subjects(path string) []string {
	i.t.Helper()
	found := []string{}
	for _, m := range get[listAnswer](i, path).Messages {
		found = append(found, m.Subject)
	}
	return found
}

func (i *inbox) page(path string) *goquery.Document {
	i.t.Helper()
	answer := i.request("GET", path, "")
	require.Equal(i.t, http.StatusOK, answer.StatusCode, path)
	doc, err := goquery.NewDocumentFromReader(answer.Body)
	require.NoError(i.t, err)
	return doc
}

// visible is the text of a selection, with one space for any white space and
// between elements.
func visible(s *goquery.Selection) string {
	var found []string
	var walk func(*goquery.Selection)
	walk = func(s *goquery.Selection) {
		s.Contents().Each(func(_ int, child *goquery.Selection) {
			if goquery.NodeName(child) == "#text" {
				found = append(found, strings.Fields(child.Text())...)
			}
			walk(child)
		})
	}
	walk(s)
	return strings.Join(found, " ")
}

func (i *inbox) arm(fault string) {
	i.t.Helper()
	answer := i.request("POST", "/api/faults", fault)
	require.Equal(i.t, http.StatusCreated, answer.StatusCode, body(i.t, answer))
}
