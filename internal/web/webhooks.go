package web

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"shop/internal/apperr"
	"shop/internal/payments"
	"shop/internal/web/httpx"
)

// webhookLimit is the largest event that is read; Stripe's are a few KiB.
const webhookLimit = 512 << 10

// stripeWebhook takes the provider's events. The raw body reaches the check of
// the signature untouched; whatever is not signed changes nothing.
func stripeWebhook(secrets []string, events *payments.Events, wake func()) httpx.Handler {
	return func(c *gin.Context) error {
		body, err := io.ReadAll(c.Request.Body)
		if err != nil {
			return err
		}
		event, err := payments.ReadEvent(body, c.GetHeader("Stripe-Signature"), secrets, time.Now())
		if errors.Is(err, payments.ErrSignature) {
			return apperr.New(apperr.Malformed, "The Stripe-Signature header does not fit the body and the endpoint's secret.").Because(err)
		}
		if err != nil {
			return apperr.New(apperr.Malformed, "The body is not an event of Stripe.").Because(err)
		}
		if err := events.Receive(c.Request.Context(), event); err != nil {
			return err // 500: it comes again
		}
		wake()
		c.JSON(http.StatusOK, gin.H{"received": event.ID})
		return nil
	}
}
