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
	part := func(name, addr string, needsDatabase bool) *child {
		return &child{name: name, executable: d.Executable, args: []string{name}, env: d.env(name), health: "http://" + addr + "/healthz",
			log: filepath.Join(d.DataDir, "logs", name+".log"), needsDatabase: needsDatabase, out: d.Out}
	}
	return []*child{
		part("web", d.ports.web, true),
		part("worker", d.ports.worker, true),
		part("stripe-sim", d.ports.stripe, false),
		part("mail-sim", d.ports.inbox, false),
	}
}

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
		set("STRIPE_SIM_ADDR", d.ports.stripe)
		set("STRIPE_SIM_URL", "http://"+d.ports.stripe)
		set("STRIPE_SIM_JOURNAL", filepath.Join(d.DataDir, "stripe.journal"))
		set("STRIPE_SIM_WEBHOOK", "http://"+d.ports.web+"/webhooks/stripe")
		set("STRIPE_WEBHOOK_SECRET", d.keys.WebhookSecret)
		return env
	case "mail-sim":
		set("MAIL_SIM_ADDR", d.ports.inbox)
		set("MAIL_SIM_SMTP_ADDR", d.ports.smtp)
		set("MAIL_SIM_URL", "http://"+d.ports.inbox)
		set("MAIL_SIM_JOURNAL", filepath.Join(d.DataDir, "mail.journal"))
		return env
	}
	set("DATABASE_URL", d.databaseURL)
	if part == "migrate" {
		set("SHOP_SEED", "true")
		set("SHOP_CURRENCY", d.Currency)
		return env
	}
	set("SHOP_URL", "http://"+d.ports.web)
	set("SHOP_DEMO", "true")
	set("SHOP_INBOX_URL", "http://"+d.ports.inbox)
	set("STRIPE_SECRET_KEY", d.keys.StripeSecret)
	set("STRIPE_PUBLISHABLE_KEY", d.keys.StripePublishable)
	set("STRIPE_API_BASE", "http://"+d.ports.stripe)
	set("SMTP_URL", "smtp://"+d.ports.smtp)
	if part == "worker" {
		set("SHOP_WORKER_ADDR", d.ports.worker)
		return env
	}
	set("SHOP_ADDR", d.ports.web)
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
		if resp, err := http.DefaultClient.Do(req); err == nil {
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
