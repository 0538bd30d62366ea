package mailsim

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func code(t *testing.T, err error) int {
	t.Helper()
	var answer *textproto.Error
	require.ErrorAs(t, err, &answer)
	return answer.Code
}

func TestFault_AcceptThenDrop(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"accept_then_drop","count":1,"match":"ADA@"}`)
	i.mustSend(mail("to grace", "g@x"), "grace@example.com")
	err := i.send(mail("to ada", "a@x"))
	require.True(t, errors.Is(err, io.EOF) || isReset(err), "%v", err)
	i.mustSend(mail("to ada", "a@x")) // the retry of a sender that cannot know
	list := get[listAnswer](i, "/api/messages?message_id=%3Ca@x%3E")
	require.Equal(t, 2, list.Total)
	require.Equal(t, 2, list.Messages[0].Deliveries)
	require.Empty(t, get[struct{ Faults []Fault }](i, "/api/faults").Faults)
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

func TestFault_RejectRcpt(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"reject_rcpt","count":2,"match":"ada@"}`)
	require.Equal(t, 550, code(t, i.send(mail("x", "x@x"), "ada@example.com")))

	// One recipient is refused, the other gets the message.
	c, err := smtp.Dial(i.smtp)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Mail("shop@example.com"))
	require.Equal(t, 550, code(t, c.Rcpt("ada@example.com")))
	require.NoError(t, c.Rcpt("grace@example.com"))
	w, err := c.Data()
	require.NoError(t, err)
	_, err = io.WriteString(w, mail("x", "x@x"))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	i.mustSend(mail("x", "y@x"), "ada@example.com")
	list := get[listAnswer](i, "/api/messages")
	require.Equal(t, 2, list.Total)
	require.Equal(t, []string{"grace@example.com"}, list.Messages[1].To)
}

func TestFault_Tempfail(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"tempfail","count":2}`)
	for range 2 {
		require.Equal(t, 451, code(t, i.send(mail("x", "x@x"))))
	}
	require.Zero(t, get[listAnswer](i, "/api/messages").Total)
	i.mustSend(mail("x", "x@x"))
}

func TestFault_RefuseConnection(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"refuse_connection","count":2}`)
	for range 2 {
		require.Error(t, i.send(mail("x", "x@x")))
	}
	i.mustSend(mail("x", "x@x"))
}

type faultState struct {
	Faults  []Fault `json:"faults"`
	Hanging int     `json:"hanging"`
}

func (i *inbox) waitHanging(n int) {
	i.t.Helper()
	require.Eventually(i.t, func() bool { return get[faultState](i, "/api/faults").Hanging == n }, 10*time.Second, 5*time.Millisecond)
}

func TestFault_Hang_Released(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"hang"}`)
	sent := make(chan error, 1)
	go func() { sent <- i.send(mail("late", "l@x")) }()
	i.waitHanging(1)
	require.Zero(t, get[listAnswer](i, "/api/messages").Total)
	i.mustSend(mail("others go on", "o@x"))
	require.Equal(t, http.StatusOK, i.request("DELETE", "/api/faults", "").StatusCode)
	select {
	case err := <-sent:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the message still hangs")
	}
	require.Equal(t, []string{"late", "others go on"}, i.subjects("/api/messages"))
	i.waitHanging(0)
}

func TestFault_Hang_SenderGone(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"hang"}`)
	c := dialogue(t, i.smtp)
	i.waitHanging(1)
	require.NoError(t, c.Close())
	i.waitHanging(0)
	require.Zero(t, get[listAnswer](i, "/api/messages").Total)
}

func TestFault_Hang_ConnectionIsUsableAfterwards(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"hang"}`)
	c := dialogue(t, i.smtp)
	i.waitHanging(1)
	i.request("DELETE", "/api/faults", "")
	r := textproto.NewReader(bufio.NewReader(c))
	_, _, err := r.ReadResponse(250)
	require.NoError(t, err)
	_, err = io.WriteString(c, "NOOP\r\n")
	require.NoError(t, err)
	_, _, err = r.ReadResponse(250)
	require.NoError(t, err)
	require.Equal(t, 1, get[listAnswer](i, "/api/messages").Total)
	require.NoError(t, c.Close())
}

func TestFault_Hang_EndsWithTheServer(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"hang"}`)
	dialogue(t, i.smtp)
	i.waitHanging(1)
	require.NoError(t, i.Close())
}

// dialogue sends a message up to its final dot and leaves the answer unread.
func dialogue(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	r := textproto.NewReader(bufio.NewReader(c))
	for _, step := range []struct {
		say  string
		want int
	}{{"", 220}, {"EHLO x\r\n", 250}, {"MAIL FROM:<a@b.c>\r\n", 250}, {"RCPT TO:<d@e.f>\r\n", 250}, {"DATA\r\n", 354}} {
		_, err := io.WriteString(c, step.say)
		require.NoError(t, err)
		_, _, err = r.ReadResponse(step.want)
		require.NoError(t, err)
	}
	_, err = io.WriteString(c, mail("late", "l@x")+".\r\n")
	require.NoError(t, err)
	return c
}

func TestFault_RefusesNonsense(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	for fault, want := range map[string]struct {
		status int
		detail string
	}{
		``:                                    {400, "expected e.g."},
		`[]`:                                  {400, "expected e.g."},
		`{"kind":"tempfail"} {}`:              {400, "something follows"},
		`{"kind":"tempfail","probably":1}`:    {400, "probably"},
		`{"kind":"explode"}`:                  {422, "accept_then_drop"},
		`{}`:                                  {422, "kind is"},
		`{"kind":"tempfail","count":0}`:       {422, "count is 0"},
		`{"kind":"tempfail","count":-1}`:      {422, "count is -1"},
		`{"kind":"tempfail","count":1000001}`: {422, "1 to 1000000"},
		`{"kind":"tempfail","count":1.5}`:     {400, "expected e.g."},
		`{"kind":"refuse_connection","match":"a"}`: {422, "leave match out"},
	} {
		answer := i.request("POST", "/api/faults", fault)
		require.Equal(t, want.status, answer.StatusCode, fault)
		require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
		require.Contains(t, body(t, answer), want.detail, fault)
	}
	big := i.request("POST", "/api/faults", `{"kind":"`+string(make([]byte, 1<<20))+`"}`)
	require.Contains(t, []int{400, 413}, big.StatusCode)
	require.Empty(t, get[faultState](i, "/api/faults").Faults)
}
