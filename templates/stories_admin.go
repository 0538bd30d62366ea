package templates

import (
	"strings"
	"time"
)

func adminStories() []Story {
	shell := AdminShell{Demo: true, SignedIn: true}
	list := AdminOperationsView{
		AdminShell: shell, Now: storyNow, Rows: storyRows(),
		States: []string{"pending", "running", "waiting", "done", "stuck"},
		Kinds:  []string{"charge_order", "send_receipt", "stripe-event"},
		Counts: []StateCount{
			{"stuck", 1, "/admin/operations?state=stuck"}, {"waiting", 2, "/admin/operations?state=waiting"},
			{"running", 3, "/admin/operations?state=running"}, {"pending", 0, "/admin/operations?state=pending"},
			{"done", 48210, "/admin/operations?state=done"},
		},
		OlderURL: "/admin/operations?before=story",
	}
	filtered := list
	filtered.State, filtered.Rows, filtered.OlderURL, filtered.NewestURL = "stuck", list.Rows[3:4], "", "/admin/operations?state=stuck"
	nothing := filtered
	nothing.Rows = nil
	first := AdminOperationsView{AdminShell: shell, Now: storyNow}
	return []Story{
		{"sign in", "Dashboard", AdminSignInPage(AdminSignInView{AdminShell: AdminShell{Demo: true}, State: SignInNeeded})},
		{"sign in, link used", "Dashboard", AdminSignInPage(AdminSignInView{State: SignInLinkUsed})},
		{"sign in, link expired", "Dashboard", AdminSignInPage(AdminSignInView{State: SignInLinkExpired})},
		{"operations", "Dashboard", AdminOperationsPage(list)},
		{"operations, filtered", "Dashboard", AdminOperationsPage(filtered)},
		{"operations, nothing found", "Dashboard", AdminOperationsPage(nothing)},
		{"operations, none yet", "Dashboard", AdminOperationsPage(first)},
		{"operation running", "Dashboard", AdminOperationPage(storyOperation(shell))},
		{"operation just planned", "Dashboard", AdminOperationPage(AdminOperationView{AdminShell: shell, Now: storyNow, Operation: list.Rows[4], Next: "A worker picks it up within a second."})},
		{"list of stories", "Dashboard", StoriesPage([]StoryLink{{"Order", "paid", "/dev/stories/order-paid"}, {"Order", "placed", "/dev/stories/order-placed"}})},
	}
}

func storyRows() []OperationRow {
	key := func(c string) string { return strings.Repeat(c, 16) }
	row := func(k, kind, subject, state string, ago time.Duration) OperationRow {
		return OperationRow{
			Key: key(k), URL: "/admin/operations/" + key(k), Kind: kind, Subject: subject, SubjectURL: "/orders/ord_story",
			State: state, Fence: 1, Claims: 1, CreatedAt: storyNow.Add(-ago),
		}
	}
	running := row("9f2c", "charge_order", "order 1042", "running", 4*time.Second)
	running.Owner, running.LeaseUntil, running.Fence, running.Claims = "worker-2@shop-7", storyNow.Add(26*time.Second), 2, 2
	waiting := row("03be", "charge_order", "order 1041", "waiting", 3*time.Minute)
	waiting.Reason, waiting.LastError, waiting.Claims, waiting.Fence = "the provider has not said whether it charged", "confirming pi_3Qk: connection reset after the request was sent", 3, 3
	done := row("c41d", "send_receipt", "order 1040", "done", 40*time.Minute)
	done.Outcome, done.Replays = "succeeded", 2
	stuck := row("7aa0", "charge_order", "order 1038", "stuck", 27*time.Hour)
	stuck.Reason, stuck.LastError, stuck.Fence, stuck.Claims = "sent more than 20 h ago, only looking is safe", hostileName(), 12, 12
	pending := row("5e11", "stripe-event", "evt_1QkR2eK", "pending", 0)
	pending.SubjectURL, pending.Fence, pending.Claims = "", 0, 0
	declined := row("b80f", "charge_order", "order 1039", "done", 26*time.Hour)
	declined.Outcome = "declined"
	return []OperationRow{running, waiting, done, stuck, pending, declined}
}

func storyOperation(shell AdminShell) AdminOperationView {
	at := func(ms int) time.Time { return storyNow.Add(time.Duration(ms) * time.Millisecond) }
	return AdminOperationView{
		AdminShell: shell, Now: storyNow, Operation: storyRows()[0],
		Next:        "worker-2@shop-7 is asking the provider. If it says nothing before the lease ends, another worker takes over with the same key.",
		DueAt:       storyNow.Add(26 * time.Second),
		Identity:    `{"attempt":1,"orderId":1042}`,
		Params:      `{"amount":28500,"currency":"usd","confirmation_token":"ctoken_1QkR2eK","metadata":{"order":"ord_01jdy3m2q8"}}`,
		Fingerprint: strings.Repeat("d3", 32), ProviderRef: "pi_3QkR2eKZvKYlo2C", ProviderURL: "http://localhost:8082/#pi_3QkR2eKZvKYlo2C",
		FirstSentAt: at(310), OutcomeUnknown: true,
		Events: []OperationEvent{
			{at(0), "planned", 0, "", "relay", `{"message":"order.placed","outbox_id":77}`},
			{at(120), "claimed", 1, "worker-1@shop-7", "queue", `{"job":31,"lease_seconds":30}`},
			{at(310), "provider_call", 1, "worker-1@shop-7", "queue", `{"call":"create","status":200,"request_id":"req_Yp1","replayed":false}`},
			{at(30120), "lease_expired", 1, "", "sweeper", `{}`},
			{at(30450), "taken_over", 2, "worker-2@shop-7", "queue", ``},
			{at(30700), "provider_call", 2, "worker-2@shop-7", "queue", `{"call":"create","status":200,"request_id":"req_Yp7","replayed":true}`},
			{at(31900), "fenced_off", 1, "worker-1@shop-7", "queue", `{"write":"complete","rows":0}`},
		},
	}
}
