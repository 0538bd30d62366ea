package templates

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

func TestOperations_ShowWhatAnOperatorNeeds(t *testing.T) {
	t.Parallel()
	doc := page(t, AdminOperationsPage(AdminOperationsView{Now: storyNow, Rows: storyRows(), OlderURL: "/admin/operations?before=9"}))
	rows := doc.Find("tbody tr")
	require.Equal(t, 6, rows.Length())
	running := rows.First()
	for _, text := range []string{"Charge order", "order 1042", "running", "worker-2@shop-7", "4 s"} {
		require.Contains(t, running.Text(), text)
	}
	lease := running.Find("time[data-countdown]")
	require.Equal(t, "2026-11-30T18:53:26Z", lease.AttrOr("data-countdown", ""))
	require.Equal(t, "2026-11-30 18:53:26.000 UTC", lease.Text(), "without scripts it is the exact time")
	require.Contains(t, rows.Eq(2).Find(".badge-ok").Text(), "succeeded")
	require.Contains(t, rows.Eq(3).Find(".badge-danger").Text(), "stuck")
	require.Equal(t, "/admin/operations?before=9", attr(t, doc, `a[rel="next"]`, "href"))
}

// On a phone a cell has no column above it, so each says what it is.
func TestOperations_CellsNameThemselves(t *testing.T) {
	t.Parallel()
	doc := page(t, AdminOperationsPage(AdminOperationsView{Now: storyNow, Rows: storyRows()}))
	heads := doc.Find("thead th").Length()
	require.Equal(t, 9, heads)
	require.Equal(t, 6*(heads-1), doc.Find("tbody td[data-label]").Length())
}

func TestOperations_KeepTheFilter(t *testing.T) {
	t.Parallel()
	doc := page(t, AdminOperationsPage(AdminOperationsView{
		Now: storyNow, States: []string{"running", "stuck"}, Kinds: []string{"charge_order"}, State: "stuck",
	}))
	require.Equal(t, "get", attr(t, doc, ".filter", "method"))
	require.Equal(t, "stuck", attr(t, doc, "#state option[selected]", "value"))
	require.Equal(t, "", attr(t, doc, "#kind option[selected]", "value"))
	require.Contains(t, doc.Find(".empty").Text(), "No operation matches")
}

func TestOperation_TellsItsTimelineInOrder(t *testing.T) {
	t.Parallel()
	doc := page(t, AdminOperationPage(storyOperation(AdminShell{SignedIn: true})))
	var types []string
	doc.Find(".timeline .event strong").Each(func(_ int, s *goquery.Selection) { types = append(types, s.Text()) })
	require.Equal(t, []string{"Planned", "Claimed", "Provider call", "Lease expired", "Taken over", "Provider call", "Fenced off"}, types)
	require.Equal(t, strings.Repeat("9f2c", 16), attr(t, doc, "[data-copy]", "data-copy"))
	require.Contains(t, doc.Find(".next").Text(), "another worker takes over with the same key")
	require.Contains(t, doc.Find(".next").Text(), "did not tell whether the effect happened")
	require.Contains(t, doc.Find(".op-side").Text(), `"amount": 28500`)
}

func TestSignIn_ExplainsEachState(t *testing.T) {
	t.Parallel()
	for state, want := range map[AdminSignInState]string{
		SignInNeeded: "one-time link", SignInLinkUsed: "used already", SignInLinkExpired: "has expired",
	} {
		doc := page(t, AdminSignInPage(AdminSignInView{State: state}))
		require.Contains(t, doc.Find("main").Text(), want)
		require.Contains(t, doc.Find("main").Text(), "shop demo")
		require.Zero(t, doc.Find("header nav").Length(), "no way in before signing in")
	}
}

func TestFormat_SpansAndCounts(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min", 3 * time.Hour: "3 h", 72 * time.Hour: "3 d",
	} {
		require.Equal(t, want, span(d))
	}
	require.Equal(t, "–", age(storyNow, time.Time{}))
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123456: "-123,456"} {
		require.Equal(t, want, count(n))
	}
	require.Equal(t, "Charge order", capital("charge_order"))
	require.Equal(t, "", capital(""))
	require.Equal(t, "not json", indentJSON("not json"))
}
