# The two commands that most people need are `make demo` and `make test`.
# `make` alone lists the others.

GO   ?= go
ARGS ?=

# A program built here never asks the network for another toolchain.
export GOTOOLCHAIN ?= local

.DEFAULT_GOAL := help
.PHONY: help demo build test lint generate verify bench clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Run everything on this machine with nothing configured (ARGS="--fresh" and others)
	@sh scripts/setup.sh demo
	@$(MAKE) --no-print-directory build
	@exec bin/shop demo $(ARGS)

build: ## Build bin/shop
	@[ -x bin/shop ] || echo "Building bin/shop; the first time takes a few minutes."
	@$(GO) build -o bin/shop ./cmd/shop

test: ## Run every test, with what it needs installed first
	@sh scripts/setup.sh test
	$(GO) run ./internal/localpg/withpg -- $(GO) test -race -shuffle=on ./...
	@if [ -f internal/spectest/go.mod ]; then echo "cd internal/spectest && $(GO) test ./..."; cd internal/spectest && $(GO) test ./...; fi

lint: ## Look for mistakes without running anything
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

generate: ## Write again what is generated from other files
	$(GO) tool templ generate -log-level error
	$(GO) run ./cmd/shop config > docs/config.md

verify: ## Fail when something generated, formatted or tidied has drifted
	@sh scripts/verify.sh

bench: ## Measure
	$(GO) run ./internal/localpg/withpg -- $(GO) test -run '^$$' -bench . -benchtime 2s ./...

clean: ## Remove what was built; the demo's data stays
	rm -rf bin
