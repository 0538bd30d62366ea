package templates

import (
	"time"
)

// AdminShell is what the frame around the dashboard's pages shows.
type AdminShell struct {
	Demo     bool
	SignedIn bool
}

// AdminSignInState says why the sign-in page is shown.
type AdminSignInState string

// The states of the sign-in page.
const (
	SignInNeeded      AdminSignInState = "needed"
	SignInLinkUsed    AdminSignInState = "used"
	SignInLinkExpired AdminSignInState = "expired"
)

// AdminSignInView is the page for those who are not signed in.
type AdminSignInView struct {
	AdminShell
	State AdminSignInState
}

// OperationRow is one operation as the list shows it.
type OperationRow struct {
	Key        string // 64 hex digits
	URL        string
	Kind       string
	Subject    string // such as "order 1042"
	SubjectURL string // empty when the subject has no page
	State      string // pending, running, waiting, done or stuck
	Reason     string // why it waits or is stuck
	Outcome    string // succeeded, declined, failed or canceled; only when done
	Owner      string
	LeaseUntil time.Time // zero when nobody holds it
	Fence      int64
	Claims     int64
	Replays    int64
	LastError  string
	CreatedAt  time.Time
}

// tone colours the badge of a state.
func (r OperationRow) tone() NoticeKind {
	switch {
	case r.State == "stuck":
		return NoticeDanger
	case r.State == "waiting":
		return NoticeWarn
	case r.State == "done" && r.Outcome == "succeeded":
		return NoticeOK
	case r.State == "running":
		return NoticeInfo
	}
	return ""
}

// StateCount is a state and how many operations are in it.
type StateCount struct {
	State string
	Count int64
	URL   string
}

// AdminOperationsView is the list of operations.
type AdminOperationsView struct {
	AdminShell
	Now       time.Time
	Rows      []OperationRow
	States    []string // what the state filter offers
	Kinds     []string // what the kind filter offers
	State     string   // the filter in force; empty means all
	Kind      string
	Counts    []StateCount // optional summary above the list
	OlderURL  string       // next page by key; empty on the last
	NewestURL string       // first page; empty when this is it
}

func (v AdminOperationsView) filtered() bool { return v.State != "" || v.Kind != "" }

// AdminOperationView is one operation with its timeline, oldest event first.
type AdminOperationView struct {
	AdminShell
	Now            time.Time
	Operation      OperationRow
	Next           string // what happens by itself, and when
	DueAt          time.Time
	Identity       string // JSON, as is everything below that says so
	Params         string // JSON
	Result         string // JSON; empty before there is one
	Fingerprint    string
	ProviderRef    string
	ProviderURL    string
	FirstSentAt    time.Time
	OutcomeUnknown bool
	Events         []OperationEvent
}

// OperationEvent is one entry of the timeline.
type OperationEvent struct {
	At     time.Time
	Type   string
	Fence  int64
	Owner  string
	Source string // queue, http, webhook, relay or operator
	Detail string // JSON; may be empty
}

func (e OperationEvent) tone() NoticeKind {
	switch e.Type {
	case "completed", "replayed":
		return NoticeOK
	case "stuck", "fenced_off":
		return NoticeDanger
	case "waiting", "lease_expired", "taken_over":
		return NoticeWarn
	}
	return NoticeInfo
}
