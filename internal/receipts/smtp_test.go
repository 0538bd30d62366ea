package receipts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/mailsim"
	"shop/internal/receipts"
)

// inbox is a real SMTP server with a page to ask.
func inbox(t *testing.T) (smtp *receipts.SMTP, page string) {
	t.Helper()
	box, err := mailsim.New(mailsim.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = box.ServeSMTP(listener) }()
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() { server.Close(); require.NoError(t, box.Close()) })
	smtp, err = receipts.NewSMTP("smtp://"+listener.Addr().String(), "Once <orders@once.example>")
	require.NoError(t, err)
	return smtp, server.URL
}

type received struct {
	Subject   string `json:"subject"`
	MessageID string `json:"message_id"`
	Raw       string `json:"raw"`
	Text      string `json:"text"`
	HTML      string `json:"html"`
}

func fetch(t *testing.T, page, to string) received {
	t.Helper()
	var list struct {
		Messages []struct {
			ID int64 `json:"id"`
		} `json:"messages"`
	}
	get(t, page+"/api/messages?to="+url.QueryEscape(to), &list)
	require.Len(t, list.Messages, 1, to)
	var m received
	get(t, fmt.Sprintf("%s/api/messages/%d", page, list.Messages[0].ID), &m)
	return m
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
}

// A name is part of the address of a mail, and people have every kind of name.
func TestAnyNameGetsItsMail(t *testing.T) {
	t.Parallel()
	smtp, page := inbox(t)
	for i, name := range []string{"Ada Lovelace", `"`, `A "q" B`, `back\slash`, "=?utf-8?q?=41?=", "李小龍", "محمد", "👩‍🚀", "O'Brien, Pat <x@y.example>",
		"a@b.example", "(comment)", ",", ";:", "", "  spaces  ", "\"\\\""} {
		to := fmt.Sprintf("n%d@example.com", i)
		_, err := smtp.Send(context.Background(), receipts.Mail{MessageID: fmt.Sprintf("%d@once.example", i), To: to, ToName: name, Subject: "s", Text: "t", HTML: "<p>h</p>"})
		require.NoError(t, err, name)
		m := fetch(t, page, to)
		parsed, err := netmail.ReadMessage(strings.NewReader(m.Raw))
		require.NoError(t, err)
		list, err := parsed.Header.AddressList("To")
		require.NoError(t, err, "%q: %s", name, parsed.Header.Get("To"))
		require.Len(t, list, 1, name)
		require.Equal(t, to, list[0].Address, name)
		require.Equal(t, name, list[0].Name, "the name arrives as it was written")
	}
}

func TestTheMailIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	smtp, page := inbox(t)
	text := "Übung ¥500 – 👩‍🚀\n.\n..dots\n" // a line with a dot alone ends the data of SMTP
	response, err := smtp.Send(context.Background(), receipts.Mail{MessageID: "id@once.example", To: "ada@example.com", Subject: "Größe 10 → ¥500", Text: text, HTML: "<p>¥500</p>"})
	require.NoError(t, err)
	require.NotEmpty(t, response)
	m := fetch(t, page, "ada@example.com")
	require.Equal(t, "id@once.example", m.MessageID)
	require.Equal(t, "Größe 10 → ¥500", m.Subject)
	require.Contains(t, m.Text, "Übung ¥500 – 👩‍🚀")
	require.Contains(t, m.Text, "..dots")
	require.Contains(t, m.HTML, "<p>¥500</p>")
}

func TestAddressesOfMailServers(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"smtp://localhost:1025", "smtp://localhost", "smtps://user:pass@mail.example.com:465"} {
		_, err := receipts.NewSMTP(good, "Once <orders@once.example>")
		require.NoError(t, err, good)
	}
	for _, bad := range []string{"", "localhost:1025", "http://localhost", "smtp://", "smtp://host:port"} {
		_, err := receipts.NewSMTP(bad, "Once <orders@once.example>")
		require.ErrorContains(t, err, bad)
	}
	_, err := receipts.NewSMTP("smtp://localhost", "nobody")
	require.ErrorContains(t, err, "nobody")
}
