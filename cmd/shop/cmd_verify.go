package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"shop/internal/database"
	"shop/internal/verify"
)

type verifyCmd struct {
	JSON      bool      `name:"json" help:"Print the whole report as JSON."`
	InboxURL  string    `name:"inbox-url" placeholder:"URL" help:"Origin of the local inbox, to count the receipts in it."`
	StripeSim string    `name:"stripe-sim" placeholder:"URL" help:"Origin of the local Stripe, to see the key of each request; by default STRIPE_API_BASE."`
	Wait      duration  `name:"wait" placeholder:"TIME" help:"Wait for so long at most until nothing is on its way."`
	Since     time.Time `name:"since" placeholder:"TIME" help:"Leave out what was made before, for an account that others use too; like 2026-11-30T00:00:00Z."`
	Strict    bool      `name:"strict" help:"Take a second copy of one receipt for a violation, although SMTP cannot rule it out."`

	databaseConfig
	stripeConfig
}

// Validate is called by the parser.
func (c *verifyCmd) Validate() error {
	for _, check := range []func() error{c.databaseConfig.Validate, c.stripeConfig.Validate} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.StripeSim == "" {
		c.StripeSim = c.StripeAPIBase
	}
	for name, origin := range map[string]string{"--inbox-url": c.InboxURL, "--stripe-sim": c.StripeSim} {
		if origin != "" && !isOrigin(origin) {
			return &configError{name, origin, "it is not an origin, a scheme and a host without a path", "http://127.0.0.1:8082"}
		}
	}
	return nil
}

// Run checks the invariants once and fails when one does not hold.
func (c *verifyCmd) Run(ctx context.Context, e *env) error {
	pool, err := database.Open(ctx, c.DatabaseURL, database.Options{MaxConns: int32(c.DBConns), Name: "shop verify"})
	if err != nil {
		return err
	}
	defer pool.Close()
	if c.Wait > 0 {
		if _, err := verify.Settle(ctx, pool, time.Duration(c.Wait)); err != nil {
			return err
		}
	}
	_, account, _ := strings.Cut(c.StripeSecretKey, "_test_")
	report, err := verify.Run(ctx, verify.Sources{Pool: pool, Provider: newGateway(c.stripeConfig), Since: c.Since,
		Simulator: verify.Simulator{URL: c.StripeSim, Account: account}, InboxURL: c.InboxURL, Strict: c.Strict})
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		err = printReport(e.stdout, report)
	}
	if err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	return report.Err()
}

func printReport(w io.Writer, r verify.Report) error {
	var b strings.Builder
	for _, one := range r.Results {
		verdict := "holds"
		switch {
		case !one.OK:
			verdict = "BROKEN"
		case one.Pending > 0:
			verdict = "pending"
		}
		fmt.Fprintf(&b, "%s  %-7s  %7d  %s\n", one.ID, verdict, one.Checked, one.Title)
		printViolations(&b, "broken", one.Failed, one.Violations)
		printViolations(&b, "pending", one.Pending, one.Unsettled)
		for _, note := range one.Notes {
			fmt.Fprintf(&b, "      note: %s\n", note)
		}
	}
	if r.Drained {
		b.WriteString("Nothing is on its way.\n")
	} else {
		fmt.Fprintf(&b, "On its way: %d operations, %d charges that wait for a shopper, %d messages.\n", r.Open.Operations, r.Open.Shoppers, r.Open.Messages)
	}
	if r.Open.Stuck > 0 {
		fmt.Fprintf(&b, "Operations that wait for a person: %d.\n", r.Open.Stuck)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shown is how many violations of a kind the table lists; --json has more.
const shown = 5

func printViolations(b *strings.Builder, what string, total int64, some []verify.Violation) {
	some = some[:min(len(some), shown)]
	for _, v := range some {
		fmt.Fprintf(b, "      %s: %s: %s\n", what, v.Subject, v.Detail)
	}
	if more := total - int64(len(some)); more > 0 {
		fmt.Fprintf(b, "      %s: and %d more\n", what, more)
	}
}
