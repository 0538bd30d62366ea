package receipts

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

// SMTP sends through one SMTP server.
type SMTP struct {
	host    string
	options []mail.Option
	from    string
}

// smtpTimeout bounds every step of a conversation; it is shorter than a lease.
const smtpTimeout = 8 * time.Second

// NewSMTP reads an address such as smtp://localhost:1025 or
// smtps://user:password@mail.example.com:465. Plain smtp uses STARTTLS when
// the server offers it, and always before it shows a password.
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		return nil, fmt.Errorf("%q is not the address of a mail server; write it like smtp://localhost:1025", address)
	}
	if err := mail.NewMsg().From(from); err != nil {
		return nil, fmt.Errorf("%q cannot be a sender: %w", from, err)
	}
	s := &SMTP{host: u.Hostname(), from: from, options: []mail.Option{mail.WithTimeout(smtpTimeout)}}
	policy, port := mail.TLSOpportunistic, 25
	if u.Scheme == "smtps" {
		s.options, port = append(s.options, mail.WithSSL()), 465
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return nil, fmt.Errorf("the port of %q is not a number: %w", address, err)
		}
	}
	if u.User != nil {
		policy = mail.TLSMandatory
		password, _ := u.User.Password()
		s.options = append(s.options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover),
			mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	s.options = append(s.options, mail.WithTLSPortPolicy(policy), mail.WithPort(port))
	return s, nil
}

// Send delivers one mail over one connection.
func (s *SMTP) Send(ctx context.Context, m Mail) (string, error) {
	msg, err := s.message(m)
	if err != nil {
		// It cannot even be written down, so no server will ever see it.
		return "", &SendError{Permanent: true, cause: err}
	}
	client, err := mail.NewClient(s.host, s.options...)
	if err != nil {
		return "", fmt.Errorf("preparing the mail client: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, msg)
	if msg.IsDelivered() {
		// What fails after the server has said 250, such as QUIT, changes nothing.
		return msg.ServerResponse(), nil
	}
	return "", classify(err)
}

// classify tells apart a refusal, which leaves nothing behind, from silence
// after the end of the data, which leaves the mail taken or not.
func classify(err error) error {
	e, ok := errors.AsType[*mail.SendError](err)
	if !ok {
		return &SendError{cause: err} // no conversation took place
	}
	answered := e.ErrorCode() >= 400
	// A refusal of the recipient or of the mail is for good. One of the sender or
	// of our sign-in is a fault of the settings: it is mended, and the mail goes.
	aboutThisMail := e.Reason == mail.ErrSMTPRcptTo || e.Reason == mail.ErrSMTPDataClose
	return &SendError{
		Unknown:   e.Reason == mail.ErrSMTPDataClose && !answered,
		Permanent: aboutThisMail && e.ErrorCode() >= 500 && e.ErrorCode() < 600,
		cause:     err,
	}
}

func (s *SMTP) message(m Mail) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := msg.From(s.from); err != nil {
		return nil, fmt.Errorf("writing the sender: %w", err)
	}
	// net/mail quotes and encodes any name; put between quotes as it is, a name
	// that is a quotation mark would cost its owner the receipt.
	named := netmail.Address{Name: m.ToName, Address: m.To}
	if msg.AddTo(named.String()) != nil {
		if err := msg.AddTo(m.To); err != nil {
			return nil, fmt.Errorf("writing the recipient: %w", err)
		}
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.MessageID)
	msg.SetDate()
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	return msg, nil
}
