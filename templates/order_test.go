package templates

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var everyStep = []OrderStep{
	StepPlaced, StepCharging, StepWaiting, StepActionRequired, StepDeclined,
	StepPaid, StepReceiptSent, StepNeedsReview, StepExpired,
}

func TestOrder_EachStepHasWordsAndOneCurrentStop(t *testing.T) {
	t.Parallel()
	for _, step := range everyStep {
		doc := page(t, OrderPage(storyOrder(step)))
		require.NotEmptyf(t, strings.TrimSpace(doc.Find("#status-heading").Text()), "heading of %s", step)
		require.NotEmptyf(t, strings.TrimSpace(doc.Find(".status-words p").Text()), "text of %s", step)
		require.Equal(t, 4, doc.Find("ol.track > li").Length())
		want := 1
		if step == StepReceiptSent {
			want = 0
		}
		require.Equalf(t, want, doc.Find(`[aria-current="step"]`).Length(), "current stops at %s", step)
		require.Contains(t, doc.Find(".sum").Text(), "$285.00", "the frozen total")
	}
}

func TestOrder_TrackAdvances(t *testing.T) {
	t.Parallel()
	done := map[OrderStep]int{StepPlaced: 1, StepCharging: 1, StepWaiting: 1, StepDeclined: 1, StepPaid: 3, StepReceiptSent: 4}
	for step, want := range done {
		require.Equalf(t, want, page(t, OrderPage(storyOrder(step))).Find(".stop-done").Length(), "stops done at %s", step)
	}
}

// A paid order never offers to pay again, whatever the handler filled in.
func TestOrder_OnlyADeclinedOrderOffersToPay(t *testing.T) {
	t.Parallel()
	for _, step := range everyStep {
		v := storyOrder(step)
		v.RetryURL = "/orders/ord_story/retry"
		doc := page(t, OrderPage(v))
		want := 0
		if step == StepDeclined {
			want = 1
		}
		require.Equalf(t, want, doc.Find("[data-pay]").Length(), "pay buttons at %s", step)
		require.Equalf(t, want, doc.Find(`form[action="/orders/ord_story/retry"]`).Length(), "forms at %s", step)
	}
}

func TestOrder_DeclinedWithoutRetryHasNoForm(t *testing.T) {
	t.Parallel()
	doc := page(t, OrderPage(storyOrder(StepDeclined)))
	require.Zero(t, doc.Find("main form").Length())
}

func TestOrder_DeclinedSaysWhyAndSendsTheAttempt(t *testing.T) {
	t.Parallel()
	v := storyOrder(StepDeclined)
	v.ReasonWords, v.RetryURL, v.Attempt = "The bank said no.", "/retry", 3
	doc := page(t, OrderPage(v))
	require.Contains(t, doc.Find(".status-words").Text(), "The bank said no.")
	require.Equal(t, "3", attr(t, doc, `[name="attempt"]`, "value"))
	require.Equal(t, "", attr(t, doc, `[name="confirmation_token"]`, "value"))
	require.Equal(t, "ada@example.com", attr(t, doc, "#payment", "data-email"))
	require.Equal(t, "declined-3", attr(t, doc, ".status", "data-state"))
}

func TestOrder_ReloadsWithoutScriptsOnlyWhileItMoves(t *testing.T) {
	t.Parallel()
	refreshes := func(v OrderView) bool {
		return page(t, OrderPage(v)).Find(`head noscript meta[http-equiv="refresh"][content="2"]`).Length() == 1
	}
	require.True(t, refreshes(storyOrder(StepCharging)))
	require.True(t, refreshes(storyOrder(StepPaid)), "the receipt is still to come")

	final := storyOrder(StepReceiptSent)
	final.Final = true
	require.False(t, refreshes(final))

	retry := storyOrder(StepDeclined)
	retry.RetryURL = "/retry"
	require.False(t, refreshes(retry), "it would clear the form under the shopper's hands")

	action := storyOrder(StepActionRequired)
	action.ActionURL = "/bank"
	require.False(t, refreshes(action))
}

func TestOrder_FollowsEventsUntilFinal(t *testing.T) {
	t.Parallel()
	v := storyOrder(StepCharging)
	doc := page(t, OrderPage(v))
	require.Equal(t, "/orders/ord_01jdy3m2q8/events", attr(t, doc, "#order-status", "data-events"))
	require.Equal(t, 1, doc.Find(`script[src="/assets/order.js"]`).Length())
	require.Equal(t, 1, doc.Find(`script[src="/_sim/js/v3/"]`).Length(), "a decline may yet bring the card form")

	v = storyOrder(StepReceiptSent)
	v.Final = true
	doc = page(t, OrderPage(v))
	require.Zero(t, doc.Find("script").Length(), "a finished order runs nothing")
}

func TestOrder_ActionLeadsToTheBank(t *testing.T) {
	t.Parallel()
	v := storyOrder(StepActionRequired)
	v.ActionURL = "http://localhost/bank?pi=1"
	link := page(t, OrderPage(v)).Find(".status-words a")
	require.Equal(t, "Confirm with your bank", link.Text())
	require.Equal(t, "http://localhost/bank?pi=1", link.AttrOr("href", ""))

	v.ActionURL = "javascript:alert(1)"
	require.NotContains(t, page(t, OrderPage(v)).Find(".status-words a").AttrOr("href", ""), "javascript")
}

func TestOrder_WaitingPromisesNoSecondCharge(t *testing.T) {
	t.Parallel()
	text := page(t, OrderPage(storyOrder(StepWaiting))).Find(".status-words").Text()
	require.Contains(t, text, "You will not be charged twice")
}

func TestOrder_MessageReplacesTheUsualSentence(t *testing.T) {
	t.Parallel()
	v := storyOrder(StepNeedsReview)
	v.Message = "We found two payments and returned one."
	text := page(t, OrderPage(v)).Find(".status-words").Text()
	require.Contains(t, text, v.Message)
	require.NotContains(t, text, "did not add up")
}
