package payments

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// pressure keeps this process from leaning on a provider that is down or busy.
// When calls keep failing, the breaker opens: nothing is sent until one probe
// has gone through. When the provider says 429, everybody here pauses, not only
// the call that was told.
type pressure struct {
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	pause   time.Duration // after a 429
	until   atomic.Int64  // Unix nanoseconds until which calls pause
}

const (
	// tripAfter is how many failures in a row open the breaker.
	tripAfter = 5
	// openFor is how long it stays open before a probe.
	openFor = 5 * time.Second
	// busyPause is how long a 429 holds everybody back.
	busyPause = time.Second
)

func newPressure() *pressure {
	return &pressure{pause: busyPause, breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: "stripe", MaxRequests: 1, Timeout: openFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
	})}
}

// errPaused is what a call gets that is not sent.
func errPaused(why string) *ProviderError {
	return &ProviderError{NotSent: true, Paused: true, Message: why}
}

// admit asks whether a call may be sent now. The returned function tells how
// it went. An error means that nothing was sent and nothing was used up.
func (p *pressure) admit() (done func(error), err *ProviderError) {
	if time.Now().UnixNano() < p.until.Load() {
		return nil, errPaused("the provider asked for a slower pace; calls pause for a moment")
	}
	report, breakerErr := p.breaker.Allow()
	if breakerErr != nil {
		return nil, errPaused("the provider keeps failing; calls pause until one of them gets through")
	}
	return func(err error) {
		if err == nil {
			report(nil)
			return
		}
		verdict, problem := judge(err, false)
		if problem.Status == http.StatusTooManyRequests {
			p.until.Store(time.Now().Add(p.pause).UnixNano())
		}
		if verdict == VerdictUnknown {
			report(err)
			return
		}
		report(nil) // a refusal is an answer: the provider is well
	}, nil
}

// Open says whether calls to the provider are paused because it keeps failing.
func (g *Gateway) Open() bool { return g.pressure.breaker.State() == gobreaker.StateOpen }
