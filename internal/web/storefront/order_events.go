package storefront

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"shop/templates"
)

const (
	// streamLife ends a stream before proxies do; the browser opens a new one.
	streamLife = 5 * time.Minute
	// heartbeat keeps the connection open through proxies.
	heartbeat = 15 * time.Second
)

// orderEvents sends the status of an order again whenever it changes, and
// "done" after the last change (text/event-stream, HTML Living Standard §9.2).
func (s *Storefront) orderEvents(c *gin.Context) error {
	ctx := c.Request.Context()
	order, err := s.Orders.Order(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	// Watch first, look second: a change in between is not missed.
	changed, stop := s.Feed.Watch(fmt.Sprint(order.ID))
	defer stop()
	// An open page must not be cut off by the server's write timeout.
	if err := http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(streamLife + heartbeat)); err != nil {
		return fmt.Errorf("lengthening the write deadline of a stream: %w", err)
	}
	c.Header("Content-Type", "text/event-stream")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	end, beat := time.NewTimer(streamLife), time.NewTicker(heartbeat)
	defer end.Stop()
	defer beat.Stop()
	for {
		if order, err = s.Orders.Order(ctx, order.PublicID); err != nil {
			return nil // the stream has begun; the browser asks again
		}
		view, err := s.view(ctx, order)
		if err != nil {
			return nil
		}
		var buf bytes.Buffer
		if err := templates.OrderStatus(view).Render(ctx, &buf); err != nil {
			return nil
		}
		send(c, "status", buf.String())
		if view.Final {
			send(c, "done", "")
			return nil
		}
	wait:
		for {
			select {
			case <-changed:
				break wait
			case <-beat.C:
				fmt.Fprint(c.Writer, ": still here\n\n")
				c.Writer.Flush()
			case <-end.C:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// send writes one event; each line of the data is a line of its own.
func send(c *gin.Context, event, data string) {
	fmt.Fprintf(c.Writer, "event: %s\n", event)
	for line := range strings.Lines(data) {
		fmt.Fprintf(c.Writer, "data: %s\n", strings.TrimRight(line, "\r\n"))
	}
	if data == "" {
		fmt.Fprint(c.Writer, "data:\n")
	}
	fmt.Fprint(c.Writer, "\n")
	c.Writer.Flush()
}
