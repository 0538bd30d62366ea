package main

import (
	"fmt"
	"runtime/debug"

	"shop/internal/operations"
)

type opkeyCmd struct {
	Kind     string `arg:"" help:"Kind of the operation, such as charge."`
	Identity string `arg:"" help:"Its identity as JSON, such as '{\"orderId\":1042,\"attempt\":1}'."`
	Canon    bool   `name:"canonical" help:"Print the canonical JSON too."`
}

// Run prints the key.
func (c *opkeyCmd) Run(e *env) error {
	key, canonical, err := operations.Derive(c.Kind, []byte(c.Identity))
	if err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, key)
	if c.Canon {
		fmt.Fprintln(e.stdout, string(canonical))
	}
	return nil
}

type versionCmd struct{}

// Run prints what this binary was built from.
func (versionCmd) Run(e *env) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		fmt.Fprintln(e.stdout, "shop, built without module information")
		return nil
	}
	revision := "an unknown revision"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	fmt.Fprintf(e.stdout, "shop %s from %s, %s\n", info.Main.Version, revision, info.GoVersion)
	return nil
}
