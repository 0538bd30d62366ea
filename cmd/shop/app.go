package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command could not do its work
	exitUsage  = 2 // the command line or the environment is wrong
)

// cli is the command line. Every flag can be set by the environment as well;
// docs/config.md lists both.
type cli struct {
	Demo      demoCmd      `cmd:"" help:"Run everything on this machine: PostgreSQL, a local Stripe, an inbox, the shop and a worker."`
	Web       webCmd       `cmd:"" help:"Serve the shop, the dashboard and the API."`
	Worker    workerCmd    `cmd:"" help:"Charge orders and send receipts."`
	Migrate   migrateCmd   `cmd:"" help:"Bring the database schema up to date."`
	Refund    refundCmd    `cmd:"" help:"Give money of a paid order back."`
	Reconcile reconcileCmd `cmd:"" help:"Compare what Stripe lists with what is here, and look again at what is behind."`
	StripeSim stripeSimCmd `cmd:"" name:"stripe-sim" help:"Run the local Stripe."`
	MailSim   mailSimCmd   `cmd:"" name:"mail-sim" help:"Run the local SMTP server and its inbox page."`
	Verify    verifyCmd    `cmd:"" help:"Check from outside that every effect happened once; exit code 1 names what offends."`
	Opkey     opkeyCmd     `cmd:"" help:"Print the key of an operation."`
	Config    configCmd    `cmd:"" help:"Print every setting with its variable, default and meaning."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// env is what a command runs in.
type env struct {
	stdout, stderr io.Writer
	log            *slog.Logger
}

// exit ends parsing after --help or --version without ending the process, so
// that a test can run the program as a value.
type exit struct{ code int }

// run is the program: it returns an exit code and never calls os.Exit.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exit)
			if !ok {
				panic(r)
			}
			code = e.code
		}
	}()
	for _, arg := range args {
		// The parser would replace what is not text, and two different arguments become one.
		if !utf8.ValidString(arg) {
			fmt.Fprintf(stderr, "shop: the argument %q is not valid UTF-8; write it in UTF-8\n", arg)
			return exitUsage
		}
	}
	var c cli
	parser, err := kong.New(&c, kong.Name("shop"), kong.Description("An order-and-charge application in which money moves once."),
		kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(exit{code}) }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		if parseErr, ok := errors.AsType[*kong.ParseError](err); ok && parseErr.Context != nil && len(args) == 0 {
			_ = parseErr.Context.PrintUsage(true)
		}
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	ctx, cancel := withLifeline(ctx)
	defer cancel()
	command.BindTo(ctx, (*context.Context)(nil))
	if err := command.Run(&env{stdout: stdout, stderr: stderr, log: log}); err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		if errors.As(err, new(*configError)) {
			return exitUsage
		}
		return exitFailed
	}
	return exitOK
}

// withLifeline ends the context when standard input closes, if the process was
// started with SHOP_LIFELINE=stdin: a child of `shop demo` then stops with its
// parent, even when the parent was killed.
func withLifeline(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if os.Getenv("SHOP_LIFELINE") == "stdin" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return ctx, cancel
}
