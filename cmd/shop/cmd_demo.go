package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"shop/internal/demo"
)

type demoCmd struct {
	Data      string `name:"data" default:".demo" placeholder:"DIR" help:"Folder for everything that is kept."`
	Addr      string `name:"addr" default:"127.0.0.1:8080" help:"Address of the shop; when it is taken, the next free port."`
	Fresh     bool   `name:"fresh" help:"Start over without the data of an earlier run."`
	ReadyFile string `name:"ready-file" placeholder:"PATH" help:"File that gets the addresses as JSON once everything is up."`
	PGBin     string `name:"pg-bin" env:"SHOP_PG_BIN" placeholder:"DIR" help:"Folder of PostgreSQL's programs; by default they are looked for."`
	Dev       bool   `name:"dev" help:"List every page in every state at /dev/stories."`

	storeConfig
}

// Run runs the demo until ctx ends.
func (c *demoCmd) Run(ctx context.Context, e *env) error {
	executable, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	ready := c.ReadyFile
	if ready != "" {
		if ready, err = filepath.Abs(ready); err != nil {
			return fmt.Errorf("resolving --ready-file: %w", err)
		}
	}
	return demo.Run(ctx, demo.Config{Executable: executable, DataDir: c.Data, Addr: c.Addr, Currency: c.Currency, PGBin: c.PGBin,
		ReadyFile: ready, Fresh: c.Fresh, Dev: c.Dev, Out: e.stdout, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}
