package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// parts are the processes of the demo, in the order in which they stop.
func (d *demo) parts() []*child {
	part := func(name string, needsDatabase bool, on ...port) *child {
		c := &child{name: name, executable: d.Executable, args: []string{name}, env: d.env(name), health: "http://" + on[0].addr + "/healthz",
			log: filepath.Join(d.DataDir, "logs", name+".log"), needsDatabase: needsDatabase, out: d.Out}
		for _, p := range on {
			c.sockets = append(c.sockets, p.socket)
		}
		return c
	}
	return []*child{
		part("web", true, d.ports.web),
		part("worker", true, d.ports.worker),
		part("stripe-sim", false, d.ports.stripe),
		part("mail-sim", false, d.ports.inbox, d.ports.smtp),
	}
}

// The first socket that a part is handed is its descriptor 3, the next one 4.
const (
	firstSocket  = "fd:3"
	secondSocket = "fd:4"
)

// env is the environment of one part: ours, without what would configure a
// real deployment, and with what the demo decides.
func (d *demo) env(part string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "SHOP_") && !strings.HasPrefix(name, "STRIPE_") && !strings.HasPrefix(name, "MAIL_") &&
			!strings.HasPrefix(name, "PG") && name != "DATABASE_URL" && name != "SMTP_URL" {
			env = append(env, kv)
		}
	}
	set := func(name, value string) { env = append(env, name+"="+value) }
	set("SHOP_LIFELINE", "stdin")
	switch part {
	case "stripe-sim":
		set("STRIPE_SIM_ADDR", firstSocket)
		set("STRIPE_SIM_URL", "http://"+d.ports.stripe.addr)
		set("STRIPE_SIM_JOURNAL", filepath.Join(d.DataDir, "stripe.journal"))
		set("STRIPE_SIM_WEBHOOK", "http://"+d.ports.web.addr+"/webhooks/stripe")
		set("STRIPE_WEBHOOK_SECRET", d.keys.WebhookSecret)
		return env
	case "mail-sim":
		set("MAIL_SIM_ADDR", firstSocket)
		set("MAIL_SIM_SMTP_ADDR", secondSocket)
		set("MAIL_SIM_URL", "http://"+d.ports.inbox.addr)
		set("MAIL_SIM_JOURNAL", filepath.Join(d.DataDir, "mail.journal"))
		return env
	}
	set("DATABASE_URL", d.databaseURL)
	if part == "migrate" {
		set("SHOP_SEED", "true")
		set("SHOP_CURRENCY", d.Currency)
		return env
	}
	set("SHOP_URL", "http://"+d.ports.web.addr)
	set("SHOP_DEMO", "true")
	set("SHOP_INBOX_URL", "http://"+d.ports.inbox.addr)
	set("STRIPE_SECRET_KEY", d.keys.StripeSecret)
	set("STRIPE_PUBLISHABLE_KEY", d.keys.StripePublishable)
	set("STRIPE_API_BASE", "http://"+d.ports.stripe.addr)
	set("SMTP_URL", "smtp://"+d.ports.smtp.addr)
	if part == "worker" {
		set("SHOP_WORKER_ADDR", firstSocket)
		return env
	}
	set("SHOP_ADDR", firstSocket)
	set("STRIPE_WEBHOOK_SECRET", d.keys.WebhookSecret)
	set("SHOP_SIGN_IN_TOKEN", d.keys.SignIn)
	set("SHOP_API_KEY", d.keys.API)
	if d.Dev {
		set("SHOP_DEV", "true")
	}
	return env
}

// runOnce runs a part that ends by itself.
func (d *demo) runOnce(ctx context.Context, name string, env []string) error {
	cmd := exec.CommandContext(ctx, d.Executable, name)
	cmd.Env = env
	stdin, err := cmd.StdinPipe() // its lifeline, closed by Wait
	if err != nil {
		return fmt.Errorf("opening the lifeline of %s: %w", name, err)
	}
	defer stdin.Close()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running shop %s: %w\n%s", name, err, out)
	}
	return nil
}

// healthClient gives up soon: a part that has not begun to accept leaves its
// callers waiting on the socket.
var healthClient = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// waitReady waits until a part answers its health check.
func (c *child) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.health, nil)
		if err != nil {
			return fmt.Errorf("preparing the health check of %s: %w", c.name, err)
		}
		if resp, err := healthClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%s did not get ready; its last words are in %s", c.name, c.log)
			}
			return ctx.Err()
		case <-tick.C:
		}
	}
}
