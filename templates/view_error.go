package templates

import "strconv"

// ErrorView is the page shown when a request cannot be answered as asked.
// What to do matters more than what went wrong.
type ErrorView struct {
	Shell
	Status    int
	Title     string // empty means the usual title of the status
	Text      string // what to do; empty means the usual advice
	RequestID string // what to quote to a person who can look it up
	BackURL   string // where to go on; empty means the front page
	BackLabel string
}

var errorWords = map[int]struct{ title, text string }{
	400: {"That request made no sense to us", "Nothing was changed. Go back, check what was entered and send it again."},
	401: {"Please sign in", "This page is for people with an account. Sign in and come back."},
	403: {"This page is not yours to open", "If you think it should be, ask the person who runs the shop."},
	404: {"There is nothing here", "The address may be mistyped, or the thing is gone. The shop itself is one click away."},
	405: {"This page cannot be used like that", "Go back to the shop and start from there."},
	409: {"Someone was faster", "What you wanted to change has changed meanwhile. Nothing was done twice. Look at how it stands now."},
	413: {"That was too much at once", "The request was larger than we accept. Nothing was changed."},
	422: {"We could not use what was entered", "Nothing was changed. Go back, correct it and send it again."},
	429: {"A little slower, please", "Too many requests came from your connection. Wait a minute and try again."},
	500: {"Something broke on our side", "Nothing you did was wrong. If you were paying, do not pay again: open your order and look, it tells the truth."},
	503: {"We are not ready yet", "The shop is starting or being looked after. Try again in a moment."},
}

func (v ErrorView) status() string { return strconv.Itoa(v.Status) }

func (v ErrorView) title() string {
	if v.Title != "" {
		return v.Title
	}
	if w, ok := errorWords[v.Status]; ok {
		return w.title
	}
	return "That did not work"
}

func (v ErrorView) text() string {
	if v.Text != "" {
		return v.Text
	}
	if w, ok := errorWords[v.Status]; ok {
		return w.text
	}
	return "Nothing was changed. Go back to the shop and try again."
}

func (v ErrorView) backURL() string {
	if v.BackURL != "" {
		return v.BackURL
	}
	return "/"
}

func (v ErrorView) backLabel() string {
	if v.BackLabel != "" {
		return v.BackLabel
	}
	return "Back to the shop"
}
