package receipts

import "context"

// Mailer hands a mail to somebody who delivers it.
type Mailer interface {
	// Send returns what the server said when it took the mail. Its error is a
	// *SendError when the mail was refused or may have been taken.
	Send(ctx context.Context, m Mail) (response string, err error)
}

// SendError says what became of a mail that was not plainly accepted.
type SendError struct {
	// Unknown: the server may have taken it. A repeat must carry the same Message-ID.
	Unknown bool
	// Permanent: the server will never take it.
	Permanent bool
	cause     error
}

func (e *SendError) Error() string { return e.cause.Error() }

// Unwrap returns what the library said.
func (e *SendError) Unwrap() error { return e.cause }
