package mailsim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filled makes a journal with two messages and returns its path and content.
func filled(t *testing.T) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "deep", "er", "mail.journal")
	t.Run("fill", func(t *testing.T) {
		i := startInbox(t, Config{Journal: path})
		i.mustSend(mail("one", "1@x"), "ada@example.com")
		i.mustSend(mail("two", "2@x")+"\r\n{\"id\":9}\r\n", "grace@example.com")
	})
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, content
}

func TestJournal_Restart(t *testing.T) {
	t.Parallel()
	path, _ := filled(t)
	i := startInbox(t, Config{Journal: path})
	require.Equal(t, []string{"two", "one"}, i.subjects("/api/messages"))
	full := get[apiFull](i, "/api/messages/2")
	require.Equal(t, mail("two", "2@x")+"\r\n{\"id\":9}\r\n", full.Raw)
	require.Equal(t, []string{"grace@example.com"}, full.To)
	i.mustSend(mail("three", "1@x"))
	require.Equal(t, 2, get[listAnswer](i, "/api/messages?message_id=1@x").Messages[0].Deliveries)

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestJournal_HasTheMessageBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mail")
	i := startInbox(t, Config{Journal: path})
	i.arm(`{"kind":"accept_then_drop"}`)
	require.Error(t, i.send(mail("kept", "k@x")))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), mail("kept", "k@x"))
}

func TestJournal_CutAnywhereInTheLastRecord(t *testing.T) {
	t.Parallel()
	path, content := filled(t)
	second := strings.Index(string(content), `{"id":2`)
	require.Positive(t, second)
	for cut := second; cut < len(content); cut++ {
		require.NoError(t, os.WriteFile(path, content[:cut], 0o600))
		server, err := New(Config{Journal: path})
		require.NoError(t, err, "cut at %d", cut)
		require.Equal(t, 1, server.box.size(), "cut at %d", cut)
		kept, err := server.box.add(server.now(), "a@b", []string{"c@d"}, []byte(mail("again", "a@x")))
		require.NoError(t, err)
		require.Equal(t, int64(2), kept.ID)
		require.NoError(t, server.Close())

		server, err = New(Config{Journal: path})
		require.NoError(t, err, "reopened after cut at %d", cut)
		require.Equal(t, 2, server.box.size())
		require.NoError(t, server.Close())
	}
}

func TestJournal_Damaged(t *testing.T) {
	t.Parallel()
	path, content := filled(t)
	for name, damage := range map[string]func(string) string{
		"no JSON":        func(s string) string { return "x" + s },
		"wrong size":     func(s string) string { return strings.Replace(s, `"size":1`, `"size":`, 1) },
		"negative size":  func(s string) string { return strings.Replace(s, `"size":1`, `"size":-1`, 1) },
		"huge size":      func(s string) string { return strings.Replace(s, `"size":1`, `"size":999999991`, 1) },
		"id out of turn": func(s string) string { return strings.Replace(s, `{"id":2`, `{"id":1`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(damage(string(content))), 0o600))
			_, err := New(Config{Journal: path})
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "damaged")
			require.ErrorContains(t, err, "move the file away")
		})
	}
}

func TestJournal_OneOwner(t *testing.T) {
	t.Parallel()
	path, _ := filled(t)
	first, err := New(Config{Journal: path})
	require.NoError(t, err)
	_, err = New(Config{Journal: path})
	require.ErrorContains(t, err, "in use by another process")
	require.NoError(t, first.Close())
	second, err := New(Config{Journal: path})
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestJournal_ClearKeepsIDs(t *testing.T) {
	t.Parallel()
	path, _ := filled(t)
	t.Run("clear", func(t *testing.T) {
		i := startInbox(t, Config{Journal: path})
		require.JSONEq(t, `{"deleted":2}`, body(t, i.request("DELETE", "/api/messages", "")))
		require.Zero(t, get[listAnswer](i, "/api/messages").Total)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(content), "grace@example.com", "deleted mail is gone from the file")
	})
	i := startInbox(t, Config{Journal: path})
	i.mustSend(mail("three", "3@x"))
	require.Equal(t, int64(3), get[listAnswer](i, "/api/messages").Messages[0].ID)
	require.Equal(t, mail("three", "3@x"), get[apiFull](i, "/api/messages/3").Raw)
}

func TestJournal_Unusable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := New(Config{Journal: dir})
	require.ErrorContains(t, err, "opening journal")
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = New(Config{Journal: filepath.Join(file, "journal")})
	require.ErrorContains(t, err, "directory of journal")
}
