package verify

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// inboxMail is a mail as the local inbox lists it.
type inboxMail struct {
	ID         int64     `json:"id"`
	ReceivedAt time.Time `json:"received_at"`
	To         []string  `json:"to"`
	Subject    string    `json:"subject"`
	MessageID  string    `json:"message_id"`
}

// readInbox gives each every mail of the inbox at this origin, newest first.
func readInbox(ctx context.Context, origin string, each func(inboxMail) error) error {
	if origin == "" {
		return nil
	}
	q := url.Values{"limit": {strconv.Itoa(copyPage)}}
	for more := true; more; {
		var page struct {
			Messages []inboxMail `json:"messages"`
		}
		if err := getJSON(ctx, origin+"/api/messages?"+q.Encode(), &page); err != nil {
			return fmt.Errorf("reading the inbox: %w", err)
		}
		for _, m := range page.Messages {
			q.Set("before", strconv.FormatInt(m.ID, 10))
			if err := each(m); err != nil {
				return err
			}
		}
		more = len(page.Messages) == copyPage
	}
	return nil
}
