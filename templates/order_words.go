package templates

// stepWords are the heading, the sentence and the tone of each step.
var stepWords = map[OrderStep]struct {
	heading, text string
	tone          NoticeKind
}{
	StepPlaced:         {"Your order is placed", "The charge comes next. It takes a few seconds.", NoticeInfo},
	StepCharging:       {"Charging your card", "We are asking your bank. You can close this page; the order goes on without it.", NoticeInfo},
	StepWaiting:        {"Waiting for the bank", "We are still waiting for the bank. You will not be charged twice. You can close this page, we e-mail the receipt.", NoticeWarn},
	StepActionRequired: {"Your bank wants a word", "Your bank asks you to confirm this payment. Nothing is charged until you do.", NoticeWarn},
	StepDeclined:       {"The card was declined", "Nothing was charged. Your order is kept.", NoticeDanger},
	StepPaid:           {"Paid, thank you", "Your payment went through. The receipt is on its way.", NoticeOK},
	StepReceiptSent:    {"Paid, thank you", "We have sent the receipt.", NoticeOK},
	StepNeedsReview:    {"A person is looking at this order", "Something did not add up, so we stopped and asked a colleague. You will not be charged twice. We will e-mail you.", NoticeWarn},
	StepExpired:        {"This order has expired", "It was not paid in time and nothing was charged. You are welcome to order again.", NoticeInfo},
}

func (v OrderView) heading() string { return stepWords[v.Step].heading }

func (v OrderView) text() string {
	if v.Message != "" {
		return v.Message
	}
	if v.Step == StepReceiptSent && v.Email != "" {
		return "We have sent the receipt to " + v.Email + "."
	}
	return stepWords[v.Step].text
}

func (v OrderView) tone() NoticeKind { return stepWords[v.Step].tone }

// trackStep is one stop on the progress track.
type trackStep struct {
	label string
	state string // done, current, paused, failed or todo
}

// track lays the order's step onto the four stops of the journey.
func (v OrderView) track() []trackStep {
	labels := []string{"Placed", "Charging", "Paid", "Receipt sent"}
	at, state := 0, "current"
	switch v.Step {
	case StepPlaced:
	case StepCharging:
		at = 1
	case StepWaiting, StepActionRequired, StepNeedsReview:
		at, state = 1, "paused"
	case StepDeclined, StepExpired:
		at, state = 1, "failed"
		labels[1] = map[OrderStep]string{StepDeclined: "Declined", StepExpired: "Expired"}[v.Step]
	case StepPaid:
		at = 3
	case StepReceiptSent:
		at = 4
	}
	steps := make([]trackStep, len(labels))
	for i, label := range labels {
		steps[i] = trackStep{label: label, state: "todo"}
		if i < at || (v.Step == StepPlaced && i == 0) {
			steps[i].state = "done"
		}
	}
	if v.Step == StepPaid || v.Step == StepReceiptSent {
		steps[1].label = "Charged"
	}
	if v.Step == StepPaid {
		steps[3].label = "Sending receipt"
	}
	switch {
	case v.Step == StepPlaced:
		// Placed is a fact the moment the page exists; the next stop is under way.
		steps[1].state = "current"
	case at < len(steps):
		steps[at].state = state
	}
	return steps
}

// isCurrent reports whether the order stands at this stop.
func (s trackStep) isCurrent() bool {
	return s.state == "current" || s.state == "paused" || s.state == "failed"
}

// spoken says the state of a stop for those who cannot see its mark.
func (s trackStep) spoken() string {
	switch s.state {
	case "done":
		return "done"
	case "current":
		return "in progress"
	case "paused":
		return "waiting"
	case "failed":
		return "stopped"
	}
	return "to come"
}
