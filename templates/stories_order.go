package templates

func orderStories() []Story {
	story := func(name string, v OrderView) Story { return Story{name, "Order", OrderPage(v)} }
	declined := storyOrder(StepDeclined)
	declined.ReasonWords, declined.RetryURL = "Your bank says there is not enough money on the card.", "/orders/ord_story/retry"
	refused := declined
	refused.Errors = []FieldError{{"payment", "Enter the card again. We never keep it between two tries."}}
	closed := declined
	closed.RetryURL, closed.Final = "", true
	action := storyOrder(StepActionRequired)
	action.ActionURL = "http://localhost/bank"
	paid := storyOrder(StepPaid)
	sent := storyOrder(StepReceiptSent)
	sent.Final, sent.InboxURL = true, "http://localhost:8025"
	review := storyOrder(StepNeedsReview)
	review.Final = true
	expired := storyOrder(StepExpired)
	expired.Final = true
	hostile := storyOrder(StepDeclined)
	hostile.Lines, hostile.Total, hostile.Email, hostile.ReasonWords = hostileLines(), usd(6400), hostileName(), hostileName()
	yen := storyOrder(StepPaid)
	yen.Lines, yen.Total = yenLines(), jpy(14400)
	return []Story{
		story("placed", storyOrder(StepPlaced)),
		story("charging", storyOrder(StepCharging)),
		story("waiting for the bank", storyOrder(StepWaiting)),
		story("bank asks", action),
		story("card declined", declined),
		story("retry refused", refused),
		story("declined for good", closed),
		story("paid", paid),
		story("receipt sent", sent),
		story("needs review", review),
		story("expired", expired),
		story("hostile name", hostile),
		story("in yen", yen),
	}
}

func storyOrder(step OrderStep) OrderView {
	return OrderView{
		Shell: Shell{Demo: true}, PublicID: "ord_01jdy3m2q8", Number: "1042", PlacedAt: storyNow,
		Lines: storyLines(), Total: storyTotal(), Email: "ada@example.com", Step: step, Attempt: 1,
		EventsURL: "/orders/ord_01jdy3m2q8/events", Card: storyCard(storyTotal()),
	}
}

func errorStories() []Story {
	var all []Story
	for _, status := range []int{400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 503} {
		v := ErrorView{Shell: Shell{Demo: true}, Status: status, RequestID: "req_7Hq2mVx0aK"}
		all = append(all, Story{"status " + itoa(status), "Error", ErrorPage(v)})
	}
	return append(all,
		Story{"unusual status", "Error", ErrorPage(ErrorView{Status: 418})},
		Story{"own words", "Error", ErrorPage(ErrorView{Status: 409, Title: "Your cart is empty", Text: "There is nothing to check out. Your last order may have gone through already.", BackURL: "/cart", BackLabel: "To the cart"})},
	)
}

func receiptStories() []Story {
	plain := ReceiptView{
		Number: "1042", PublicID: "ord_01jdy3m2q8", Name: "Ada Lovelace", PaidAt: storyNow, Lines: storyLines(),
		Total: storyTotal(), OrderURL: "http://localhost:8080/orders/ord_01jdy3m2q8", Demo: true,
	}
	yen := plain
	yen.Lines, yen.Total = yenLines(), jpy(14400)
	hostile := plain
	hostile.Name, hostile.Lines, hostile.Total = hostileName(), hostileLines(), usd(6400)
	return []Story{
		{"plain", "Receipt mail", ReceiptEmailHTML(plain)},
		{"in yen", "Receipt mail", ReceiptEmailHTML(yen)},
		{"hostile name", "Receipt mail", ReceiptEmailHTML(hostile)},
	}
}
