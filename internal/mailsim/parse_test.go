package mailsim

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestParse_Charsets(t *testing.T) {
	t.Parallel()
	for charset, bytes := range map[string]string{
		"iso-8859-1": "caf\xe9", "windows-1252": "caf\xe9", "utf-8": "café", "UTF-16BE": "\x00c\x00a\x00f\x00\xe9",
	} {
		c := parse([]byte("Content-Type: text/plain; charset=" + charset + "\r\n\r\n" + bytes))
		require.Equal(t, "café", c.Text, charset)
		require.Empty(t, c.Problems)
	}
	c := parse([]byte("Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>caf=C3=A9=\r\n!"))
	require.Equal(t, "<p>café!", c.HTML)
}

func TestParse_SaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"charset":  "Content-Type: text/plain; charset=klingon\r\n\r\nqapla",
		"encoding": "Content-Transfer-Encoding: rot13\r\n\r\nqapla",
		"header":   "what is this\r\n\r\nqapla",
	} {
		c := parse([]byte(raw))
		require.Contains(t, c.Text, "qapla", name)
		require.NotEmpty(t, c.Problems, name)
	}
}

func TestParse_NestedWithoutEnd(t *testing.T) {
	t.Parallel()
	var deep strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", n, n)
	}
	many := "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\nContent-Type: image/png\r\n\r\nx\r\n", 100_000)
	folds := "Subject: a\r\n" + strings.Repeat(" b\r\n", 2_500_000)
	began := time.Now()
	parse([]byte(deep.String()))
	require.Less(t, len(summarise(envelope{}, []byte(folds)).Subject), 3000)
	c := parse([]byte(many))
	require.Len(t, c.Parts, maxParts)
	require.Contains(t, c.Problems, "more than 100 parts")
	require.Less(t, time.Since(began), 10*time.Second)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mail("a", "a@x")))
	f.Add([]byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-16\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--"))
	f.Add([]byte("Subject: =?utf-8?b?/////w==?=\r\n\t=?x?q?=ZZ?=\r\n\r\n\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := parse(raw)
		s := summarise(envelope{}, raw)
		for _, text := range []string{c.Text, c.HTML, s.Subject, s.MessageID, s.HeaderFrom, s.HeaderTo, s.Date} {
			if !utf8.ValidString(text) {
				t.Fatalf("not UTF-8: %q", text)
			}
		}
		if len(c.Parts) > maxParts {
			t.Fatalf("%d parts", len(c.Parts))
		}
	})
}
