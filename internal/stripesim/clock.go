package stripesim

import (
	"sync/atomic"
	"time"
)

// clock is the simulator's time: a base clock plus an offset that
// POST /_sim/clock moves, so that a day can pass in a test.
type clock struct {
	base   func() time.Time
	offset atomic.Int64
}

func (c *clock) now() time.Time { return c.base().Add(time.Duration(c.offset.Load())) }

func (c *clock) unix() int64 { return c.now().Unix() }
