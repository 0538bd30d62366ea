package operations

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// State says where an operation stands.
type State string

// The states. Only Done and Stuck need nothing further from the program.
const (
	Pending State = "pending" // planned; nobody has it
	Running State = "running" // somebody holds a lease
	Waiting State = "waiting" // parked until retry_at, for a reason
	Done    State = "done"    // has an outcome
	Stuck   State = "stuck"   // needs a person
)

// Outcome says how a done operation ended.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "succeeded" // the effect happened
	Declined  Outcome = "declined"  // the provider refused definitely; a new attempt may start
	Failed    Outcome = "failed"    // it cannot happen
	Canceled  Outcome = "canceled"  // it was taken back before it happened
)

// Errors on which a caller branches.
var (
	// ErrLeaseHeld: somebody else is doing it right now.
	ErrLeaseHeld = errors.New("another worker holds the lease")
	// ErrLeaseLost: our lease has passed; nothing was written, and nothing may be.
	ErrLeaseLost = errors.New("the lease is lost")
	// ErrNotDue: it waits until its retry_at.
	ErrNotDue = errors.New("the operation waits for a later time")
	// ErrStuck: a person has to decide first.
	ErrStuck = errors.New("the operation is stuck and waits for a person")
	// ErrFingerprint: the same key came with other parameters. That is a
	// conflict, never a silent second effect.
	ErrFingerprint = errors.New("the operation exists with other parameters")
	// ErrInFlight: the same operation is running in another transaction.
	ErrInFlight = errors.New("the same operation is in flight")
	// ErrNotFound: there is no operation with this key.
	ErrNotFound = errors.New("no such operation")
)

// Spec describes an operation in the words of its domain.
type Spec struct {
	Kind        string // what it does, such as "charge"
	Identity    any    // what it is; no secrets, no personal data
	SubjectType string // what it belongs to, such as "order"
	SubjectID   string
	Params      any // the parameters of the effect, frozen with the key
}

// Intent is a Spec with its key and fingerprint worked out.
type Intent struct {
	Key         Key
	Kind        string
	Identity    json.RawMessage
	SubjectType string
	SubjectID   string
	Params      json.RawMessage
	Fingerprint string
}

// NewIntent derives the key and freezes the parameters of an operation.
func NewIntent(s Spec) (Intent, error) {
	key, identity, err := Derive(s.Kind, s.Identity)
	if err != nil {
		return Intent{}, err
	}
	params, err := Canonical(s.Params)
	if err != nil {
		return Intent{}, fmt.Errorf("freezing the parameters of %s %s: %w", s.Kind, key, err)
	}
	return Intent{Key: key, Kind: s.Kind, Identity: identity, SubjectType: s.SubjectType, SubjectID: s.SubjectID,
		Params: params, Fingerprint: hashJSON(params)}, nil
}

// Operation is one row as it was read.
type Operation struct {
	Key            Key             `db:"op_key"`
	Kind           string          `db:"kind"`
	Identity       json.RawMessage `db:"identity"`
	SubjectType    string          `db:"subject_type"`
	SubjectID      string          `db:"subject_id"`
	Params         json.RawMessage `db:"params"`
	Fingerprint    string          `db:"fingerprint"`
	State          State           `db:"state"`
	Outcome        *Outcome        `db:"outcome"`
	Fence          int64           `db:"fence"`
	Owner          *string         `db:"owner"`
	LeaseUntil     *time.Time      `db:"lease_until"`
	RetryAt        *time.Time      `db:"retry_at"`
	WaitReason     *string         `db:"wait_reason"`
	DueAt          *time.Time      `db:"due_at"`
	FirstSentAt    *time.Time      `db:"first_sent_at"`
	OutcomeUnknown bool            `db:"outcome_unknown"`
	ProviderRef    *string         `db:"provider_ref"`
	Result         json.RawMessage `db:"result"`
	Error          *string         `db:"error"`
	Claims         int64           `db:"claims"`
	Replays        int64           `db:"replays"`
	CreatedAt      time.Time       `db:"created_at"`
	UpdatedAt      time.Time       `db:"updated_at"`
	FinishedAt     *time.Time      `db:"finished_at"`
}

// Intent returns what was planned, so that a later delivery claims the very same thing.
func (o Operation) Intent() Intent {
	return Intent{Key: o.Key, Kind: o.Kind, Identity: o.Identity, SubjectType: o.SubjectType, SubjectID: o.SubjectID,
		Params: o.Params, Fingerprint: o.Fingerprint}
}

// Succeeded says whether the operation is done and its effect happened.
func (o Operation) Succeeded() bool {
	return o.State == Done && o.Outcome != nil && *o.Outcome == Succeeded
}
