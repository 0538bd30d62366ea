package stripesim

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const unsafeCard = "Sending credit card numbers directly to the Stripe API is generally unsafe. To continue processing use Stripe.js, the Stripe mobile bindings, or Stripe Elements. For more information, see https://dashboard.stripe.com/account/integration/settings. If you are qualified to handle card data directly, see https://support.stripe.com/questions/enabling-access-to-raw-card-data-apis."

// readCard turns card[number], card[exp_month] … below prefix into a payment
// method. Raw numbers are for browsers (publishable keys) only.
func (c *call) readCard(r *reader, prefix string) (*method, *apiError) {
	number := strings.NewReplacer(" ", "", "-", "").Replace(r.required(prefix + "[number]"))
	month, hasMonth := r.int(prefix + "[exp_month]")
	year, hasYear := r.int(prefix + "[exp_year]")
	if r.err == nil && !hasMonth {
		r.fail(missingParam(prefix + "[exp_month]"))
	}
	if r.err == nil && !hasYear {
		r.fail(missingParam(prefix + "[exp_year]"))
	}
	if r.err != nil {
		return nil, r.err
	}
	if !c.publishable {
		return nil, &apiError{status: 402, Type: typeInvalid, Message: unsafeCard}
	}
	if year < 100 {
		year += 2000
	}
	now := time.Unix(c.now, 0).UTC()
	cvc, sentCVC := r.p.get(prefix + "[cvc]")
	switch {
	case !luhn(number):
		return nil, cardInputError("incorrect_number", "number", "Your card number is incorrect.")
	case month < 1 || month > 12:
		return nil, cardInputError("invalid_expiry_month", "exp_month", "Your card's expiration month is invalid.")
	case year < int64(now.Year()) || year > int64(now.Year())+50:
		return nil, cardInputError("invalid_expiry_year", "exp_year", "Your card's expiration year is invalid.")
	case year == int64(now.Year()) && month < int64(now.Month()):
		return nil, cardInputError("invalid_expiry_month", "exp_month", "Your card's expiration month is invalid.")
	case sentCVC && !digits(cvc, 3, 4):
		return nil, cardInputError("invalid_cvc", "cvc", "Your card's security code is invalid.")
	}
	card := cardsByNumber[number]
	if card == nil {
		e := cardInputError("card_declined", "", "Your card was declined. Your request was in test mode, but used a non test card. For a list of valid test cards, visit: https://stripe.com/docs/testing.")
		e.DeclineCode = "test_mode_live_card"
		return nil, e
	}
	return c.newMethod(card, month, year), nil
}

func cardInputError(code, param, message string) *apiError {
	e := refused(code, param, message)
	e.status, e.Type = 402, typeCard
	return e
}

// readBilling reads billing_details below prefix.
func (r *reader) readBilling(prefix string) billingDetails {
	at := func(name string) *string { return optional(r.limited(prefix+name, 5000)) }
	return billingDetails{Address: r.readAddress(prefix + "[address]"), Email: at("[email]"), Name: at("[name]"), Phone: at("[phone]")}
}

func (r *reader) readAddress(prefix string) address {
	at := func(name string) *string { return optional(r.limited(prefix+name, 5000)) }
	return address{City: at("[city]"), Country: at("[country]"), Line1: at("[line1]"), Line2: at("[line2]"),
		PostalCode: at("[postal_code]"), State: at("[state]")}
}

func luhn(number string) bool {
	if !digits(number, 12, 19) {
		return false
	}
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func digits(s string, shortest, longest int) bool {
	if len(s) < shortest || len(s) > longest {
		return false
	}
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil && s[0] != '+'
}

// cardFingerprint is the same for the same card number, as Stripe's is.
func cardFingerprint(number string) string {
	sum := sha256.Sum256([]byte("fingerprint:" + number))
	return hex.EncodeToString(sum[:8])
}
