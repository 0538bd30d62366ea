package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// serveHTTP serves until ctx ends, then lets requests under way finish. Open
// streams end at once: their browsers come back.
func serveHTTP(ctx context.Context, addr string, h http.Handler, log *slog.Logger) error {
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	streams, endStreams := context.WithCancel(context.WithoutCancel(ctx))
	defer endStreams()
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return streams },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Info("listening", "addr", listener.Addr().String())
	select {
	case err := <-failed:
		return fmt.Errorf("serving on %s: %w", addr, err)
	case <-ctx.Done():
	}
	quick, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	time.AfterFunc(500*time.Millisecond, endStreams)
	if err := server.Shutdown(quick); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("shutting down: %w", err)
	}
	return nil
}

// inherited is the form of an address that is a socket which the parent has
// opened, such as fd:3.
const inherited = "fd:"

// listen opens an address, or takes over a socket that was inherited.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	if number, ok := strings.CutPrefix(addr, inherited); ok {
		fd, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("reading %q, an inherited socket such as fd:3: %w", addr, err)
		}
		file := os.NewFile(uintptr(fd), addr)
		defer file.Close() // the listener has a descriptor of its own
		listener, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("taking over the socket %s: %w", addr, err)
		}
		return listener, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	return listener, nil
}
