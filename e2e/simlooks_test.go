package e2e

import "testing"

func TestLooks_TheLocalStripe(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	b := newTab(t)
	o := d.place(t, "simlooks-1", newEmail("looks"), "oak-stool", 6, "pm_card_visa")
	d.completed(t, o)
	b.open(d.StripeURL + "/")
	b.inspect(t, "the local Stripe")
}
