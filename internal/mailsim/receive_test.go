package mailsim

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"
)

func TestReceive_KeepsMessageAsItCame(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 123456000, time.UTC)
	i := startInbox(t, Config{PublicURL: "http://mail.example/", Now: func() time.Time { return at }})
	raw := "Subject: =?utf-8?q?Re=C3=A7u?= =?iso-8859-1?q?_n=B0?= 7\r\nMessage-ID: <a.b@c>\r\nFrom: =?utf-8?b?w4lsaXNl?= <e@example.com>\r\n" +
		"To: ada@example.com,\r\n\tgrace@example.com\r\nDate: Mon, 30 Nov 2026 12:00:00 +0000\r\n\r\n.dot\r\n..two\r\n\x00\xff byte\r\n"
	i.mustSend(raw, "ada@example.com", "hidden@example.com")

	list := get[listAnswer](i, "/api/messages")
	require.Equal(t, 1, list.Total)
	require.Equal(t, apiMessage{ID: 1, ReceivedAt: at, From: "shop@example.com", To: []string{"ada@example.com", "hidden@example.com"},
		Subject: "Reçu n° 7", MessageID: "a.b@c", HeaderFrom: "Élise <e@example.com>", HeaderTo: "ada@example.com, grace@example.com",
		Date: "Mon, 30 Nov 2026 12:00:00 +0000", Size: int64(len(raw)), Deliveries: 1, URL: "http://mail.example/messages/1"}, list.Messages[0])

	download := i.request("GET", "/messages/1/raw", "")
	require.Equal(t, raw, body(t, download), "byte for byte")
	require.Equal(t, "application/octet-stream", download.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename=message-1.eml`, download.Header.Get("Content-Disposition"))
}

func TestReceive_TakesMailOfGoMailApart(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	msg := gomail.NewMsg()
	require.NoError(t, msg.FromFormat("Once ✉", "receipts@once.example"))
	require.NoError(t, msg.To("ada@example.com"))
	msg.Subject("Receipt – 領収書")
	msg.SetMessageIDWithValue("receipt.1@once.example")
	msg.SetBodyString(gomail.TypeTextPlain, "Zwölf Euro\n")
	msg.AddAlternativeString(gomail.TypeTextHTML, "<p>Zwölf <b>Euro</b></p>")
	require.NoError(t, msg.AttachReader("lïst.csv", strings.NewReader("a,b\n")))
	host, portText, err := net.SplitHostPort(i.smtp)
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	client, err := gomail.NewClient(host, gomail.WithPort(port), gomail.WithTLSPolicy(gomail.NoTLS),
		gomail.WithSMTPAuth(gomail.SMTPAuthPlainNoEnc), gomail.WithUsername("any"), gomail.WithPassword("thing"))
	require.NoError(t, err)
	require.NoError(t, client.DialAndSendWithContext(context.Background(), msg))

	full := get[apiFull](i, "/api/messages/1")
	require.Equal(t, "Receipt – 領収書", full.Subject)
	require.Equal(t, "receipt.1@once.example", full.MessageID)
	require.Contains(t, full.HeaderFrom, "Once ✉")
	require.Equal(t, "Zwölf Euro", strings.TrimSpace(full.Text))
	require.Equal(t, "<p>Zwölf <b>Euro</b></p>", strings.TrimSpace(full.HTML))
	require.Empty(t, full.Problems)
	require.Len(t, full.Parts, 1)
	require.Equal(t, "lïst.csv", full.Parts[0].Name)
	require.Contains(t, full.Raw, "boundary=")
	part := i.request("GET", full.Parts[0].URL, "")
	require.Equal(t, "a,b\n", body(t, part))
	require.Contains(t, part.Header.Get("Content-Disposition"), "attachment")
}

func TestReceive_TooLarge(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	over := mail("large", "l@x") + strings.Repeat(strings.Repeat("x", 98)+"\r\n", MaxMessageBytes/100)
	err := i.send(over)
	var answer *textproto.Error
	require.ErrorAs(t, err, &answer)
	require.Equal(t, 552, answer.Code)
	require.Zero(t, get[listAnswer](i, "/api/messages").Total)

	// A sender that says the size first is told before it sends.
	c, err := textproto.Dial("tcp", i.smtp)
	require.NoError(t, err)
	defer c.Close()
	for _, step := range []struct {
		say  string
		want int
	}{{"", 220}, {"EHLO x", 250}, {fmt.Sprintf("MAIL FROM:<a@b.c> SIZE=%d", MaxMessageBytes+1), 552}} {
		if step.say != "" {
			require.NoError(t, c.PrintfLine("%s", step.say))
		}
		_, _, err := c.ReadResponse(step.want)
		require.NoError(t, err)
	}

	under := mail("fits", "f@x") + strings.Repeat(strings.Repeat("x", 98)+"\r\n", 10_000)
	i.mustSend(under)
	require.Equal(t, []string{"fits"}, i.subjects("/api/messages"))
}

func TestReceive_OddMessagesAreKeptAndShown(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	odd := map[string]string{
		"no headers":           "just text\r\nmore\r\n",
		"empty":                "",
		"headers only":         "Subject: x\r\n\r\n",
		"broken header":        "Subject: x\r\nthis is no header\r\n\r\nbody\r\n",
		"unknown charset":      "Content-Type: text/plain; charset=klingon\r\n\r\nbody\r\n",
		"unknown encoding":     "Content-Transfer-Encoding: rot13\r\n\r\nbody\r\n",
		"broken base64":        "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n",
		"no boundary":          "Content-Type: multipart/mixed\r\n\r\nbody\r\n",
		"unfinished multipart": "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhalf",
		"bad encoded word":     "Subject: =?utf-8?q?=ZZ?= =?x?y?z?=\r\n\r\n",
		"invalid UTF-8":        "Subject: \xff\xfe\r\nTo: \xc3(\r\n\r\n\xff\r\n",
		"header bomb":          strings.Repeat("X: y\r\n", 5_000) + "\r\nbody\r\n",
	}
	for name, raw := range odd {
		require.NoError(t, i.send(raw), name)
	}
	list := get[listAnswer](i, "/api/messages")
	require.Equal(t, len(odd), list.Total)
	for _, m := range list.Messages {
		get[apiFull](i, fmt.Sprintf("/api/messages/%d", m.ID))
		for _, view := range []string{"html", "text", "headers", "raw"} {
			i.page(fmt.Sprintf("/messages/%d?view=%s", m.ID, view))
		}
	}
	i.page("/")
}

func TestReceive_ManySendersAtOnce(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{Journal: t.TempDir() + "/mail"})
	var senders sync.WaitGroup
	for n := range 20 {
		senders.Go(func() {
			for m := range 5 {
				if err := i.send(mail("hello", fmt.Sprintf("%d.%d@x", n, m)), fmt.Sprintf("u%d@example.com", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	list := get[listAnswer](i, "/api/messages")
	require.Equal(t, 100, list.Total)
	for n, m := range list.Messages {
		require.Equal(t, int64(100-n), m.ID, "newest first, no id twice")
		require.Equal(t, mail("hello", m.MessageID), get[apiFull](i, fmt.Sprintf("/api/messages/%d", m.ID)).Raw)
	}
}

func TestServe_AfterCloseAndUnusableListener(t *testing.T) {
	t.Parallel()
	server, err := New(Config{})
	require.NoError(t, err)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorContains(t, server.ServeSMTP(closed), "taking mail on")

	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, server.ServeSMTP(l))
	_, err = smtp.Dial(l.Addr().String())
	require.Error(t, err)
}

func TestNew_RefusesPublicURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"mail.example", "ftp://x", "http://x/path", "http://"} {
		_, err := New(Config{PublicURL: text})
		require.ErrorContains(t, err, fmt.Sprintf("%q", text))
		require.ErrorContains(t, err, "http://127.0.0.1:8025")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.mustSend(mail("a", "a@x"))
	answer := i.request("GET", "/healthz", "")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.JSONEq(t, `{"status":"ok","messages":1}`, body(t, answer))
}
