package demo

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"shop/internal/localpg"
)

// postgres is the demo's database server, started again when it dies.
type postgres struct {
	config localpg.Config
	out    io.Writer

	mu      sync.Mutex
	cluster *localpg.Cluster
	kept    chan struct{} // closed when it is not watched any more
}

// startPostgres starts the server and watches it until ctx ends.
func startPostgres(ctx context.Context, c localpg.Config, out io.Writer) (*postgres, error) {
	cluster, err := localpg.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Port = cluster.Port() // the address that everybody knows
	p := &postgres{config: c, out: out, cluster: cluster, kept: make(chan struct{})}
	go p.keep(ctx)
	return p, nil
}

func (p *postgres) current() *localpg.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}

// keep starts the server again on the same data and the same port whenever it
// has died. What was committed is there; what was not is rolled back, and
// whoever was at it begins again.
func (p *postgres) keep(ctx context.Context) {
	defer close(p.kept)
	pause := firstPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.current().Done():
		}
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintln(p.out, "  postgres stopped; starting it again")
		cluster, err := localpg.Start(ctx, p.config)
		if err == nil {
			p.mu.Lock()
			p.cluster = cluster
			p.mu.Unlock()
			pause = firstPause
			continue
		}
		fmt.Fprintf(p.out, "  postgres did not start (%v); trying again\n", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longPause)
	}
}

// stop ends the server after the context of startPostgres has ended.
func (p *postgres) stop() error {
	<-p.kept
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.current().Stop(ctx)
}
