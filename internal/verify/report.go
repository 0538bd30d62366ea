package verify

import (
	"fmt"
	"strings"
	"time"
)

// Report is what one run found.
type Report struct {
	CheckedAt time.Time `json:"checked_at"` // by the database clock, before the provider was read
	Drained   bool      `json:"drained"`    // nothing was on its way: no operation open, no message pending
	Open      Open      `json:"open"`
	Results   []Result  `json:"results"`
}

// Open counts what was on its way when our side was read.
type Open struct {
	Operations int64 `json:"operations"` // the program goes on with these by itself
	Shoppers   int64 `json:"shoppers"`   // charges that wait for a shopper at the bank's page
	Messages   int64 `json:"messages"`   // not dispatched yet
	Stuck      int64 `json:"stuck"`      // wait for a person; time does not heal them
}

// Result is the answer of one invariant.
type Result struct {
	ID      string `json:"id"` // "I1"
	Title   string `json:"title"`
	OK      bool   `json:"ok"`
	Checked int64  `json:"checked"` // things looked at
	Failed  int64  `json:"failed"`  // violations, of which the first are listed
	// Pending counts what is not right yet and may still become so by itself.
	Pending    int64       `json:"pending"`
	Violations []Violation `json:"violations"`
	Unsettled  []Violation `json:"unsettled"` // the first of the pending ones
	Notes      []string    `json:"notes"`     // worth knowing and not wrong
}

// Violation names one thing that is not as it should be.
type Violation struct {
	Subject string `json:"subject"` // "order 1042", "pi_…", "operation 3fa…"
	Detail  string `json:"detail"`
}

// listed is how many violations of a kind a report names; all are counted.
const listed = 50

func (r *Result) add(v Violation, pending bool) {
	into, count := &r.Violations, &r.Failed
	if pending {
		into, count = &r.Unsettled, &r.Pending
	}
	*count++
	if len(*into) < listed {
		*into = append(*into, v)
	}
}

func (r *Result) note(format string, args ...any) {
	if len(r.Notes) < listed {
		r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
	}
}

// OK says whether every invariant holds.
func (r Report) OK() bool { return len(r.Broken()) == 0 }

// Broken returns the results that do not hold.
func (r Report) Broken() (broken []Result) {
	for _, one := range r.Results {
		if !one.OK {
			broken = append(broken, one)
		}
	}
	return broken
}

// Err is nil when every invariant holds, and otherwise names what offends.
func (r Report) Err() error {
	var parts []string
	for _, one := range r.Broken() {
		subjects := make([]string, 0, len(one.Violations))
		for _, v := range one.Violations {
			subjects = append(subjects, v.Subject)
		}
		if more := one.Failed - int64(len(subjects)); more > 0 {
			subjects = append(subjects, fmt.Sprintf("and %d more", more))
		}
		parts = append(parts, one.ID+" by "+strings.Join(subjects, ", "))
	}
	if parts == nil {
		return nil
	}
	return fmt.Errorf("%d of %d invariants do not hold: %s", len(parts), len(r.Results), strings.Join(parts, "; "))
}
