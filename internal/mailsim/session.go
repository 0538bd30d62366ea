package mailsim

import (
	"errors"
	"io"
	"slices"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// session is one sender's dialogue.
type session struct {
	server *Server
	conn   *smtp.Conn
	from   string
	to     []string
}

var _ smtp.AuthSession = (*session)(nil)

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

// AuthMechanisms lets a sender that is configured with a password use it.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth takes any name and password, and forgets them.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, _ string) error { return nil }), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from, s.to = from, nil
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.server.faults.strike(faultRejectRcpt, to) {
		s.server.log.Info("rejected recipient, as asked", "to", to)
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such mailbox (asked for by a fault)"}
	}
	s.to = append(s.to, to)
	return nil
}

// Data takes the message. A crash before the journal has it means that the
// sender gets no answer and tries again; a crash after it, the same, and then
// the inbox shows two deliveries with one Message-ID.
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	from, to := s.from, slices.Clone(s.to)
	addresses := append([]string{from}, to...)
	if released := s.server.faults.strikeHang(addresses...); released != nil {
		s.server.log.Info("hanging, as asked", "to", to)
		conn, watched := s.conn.Conn().(*watchedConn)
		gone := !watched || conn.endsBefore(released)
		s.server.faults.unhang()
		if gone {
			return errors.New("the sender has gone")
		}
	}
	if s.server.faults.strike(faultTempfail, addresses...) {
		s.server.log.Info("refused message for now, as asked", "to", to)
		return temporarily("Try again later (asked for by a fault)")
	}
	kept, err := s.server.box.add(s.server.now(), from, to, raw)
	if err != nil {
		s.server.log.Error("keeping message", "error", err)
		return temporarily("Not kept: " + err.Error())
	}
	s.server.log.Info("kept message", "id", kept.ID, "to", to, "message_id", kept.MessageID, "size", kept.Size)
	if s.server.faults.strike(faultAcceptThenDrop, addresses...) {
		s.server.log.Info("dropping connection, as asked", "id", kept.ID)
		_ = s.conn.Conn().Close()
	}
	return nil
}

func temporarily(why string) error {
	return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: why}
}
