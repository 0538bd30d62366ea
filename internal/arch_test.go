// Package internal holds the one test that is about the tree as a whole.
package internal

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// common may be imported by every package from database up.
var common = []string{"money", "apperr", "fault"}

// mayImport is the import table: imports point down only. A package that is
// missing here may import nothing of ours. "web" stands for web and its parts.
var mayImport = map[string][]string{
	"database":        {"migrations"},
	"operations":      {"database"},
	"outbox":          {"database"},
	"auditlog":        {"database"},
	"access":          {"database"},
	"orders":          {"outbox"},
	"payments":        {"orders", "operations", "outbox"},
	"receipts":        {"orders", "operations", "outbox", "templates"},
	"jobs":            {"payments", "receipts", "operations", "outbox", "orders", "access"},
	"web":             {"orders", "payments", "receipts", "operations", "outbox", "auditlog", "access", "verify", "templates", "web"},
	"verify":          {"orders", "payments", "receipts", "operations", "outbox"},
	"demo":            {"localpg"},
	"lab":             {"localpg"},
	"templates":       {"money"},
	"money":           {},
	"apperr":          {},
	"fault":           {},
	"migrations":      {},
	"stripesim":       {"fault"},
	"mailsim":         {"fault"},
	"localpg":         {"localpg", "fault"},
	"database/dbtest": {"database", "localpg", "migrations"},
}

// onlyIn says which packages, or files, may name a library.
var onlyIn = map[string][]string{
	"github.com/stripe/stripe-go/v76": {"payments"},
	"github.com/riverqueue/river":     {"jobs", "database", "cmd"},
	"github.com/gin-gonic/gin":        {"web"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range listPackages(t) {
		name := room(p.ImportPath)
		if name == "" || name == "cmd" || name == "e2e" {
			continue
		}
		seen++
		allowed := slices.Clone(mayImport[name])
		if !slices.Contains([]string{"money", "apperr", "fault", "migrations", "templates", "stripesim", "mailsim", "localpg"}, name) {
			allowed = append(allowed, common...)
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, "shop/") {
				continue
			}
			require.Contains(t, allowed, room(imported), "%s imports %s, which is not below it", p.ImportPath, imported)
		}
	}
	require.Greater(t, seen, 15)
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		for _, imported := range p.Imports {
			for library, rooms := range onlyIn {
				if imported == library || strings.HasPrefix(imported, library+"/") {
					require.Contains(t, rooms, room(p.ImportPath), "%s names %s", p.ImportPath, imported)
				}
			}
		}
	}
}

// stripe-go is named in the files of one adapter only, so that everything else speaks of
// charges and not of one provider's types.
func TestStripeStaysInItsFiles(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "-C", "..", "grep", "-l", "stripe-go/v76", "--", "internal/*.go", ":!*_test.go", ":!internal/spectest").Output()
	require.NoError(t, err)
	for _, file := range strings.Fields(string(out)) {
		require.Contains(t, []string{"internal/payments/stripe.go", "internal/payments/stripe_refund.go", "internal/payments/stripe_list.go",
			"internal/payments/webhook.go"}, file)
	}
}

// docs/peers.md rows 104 to 107: no float comes near money.
func TestRow107_NoFloatNearMoney(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "-C", "..", "grep", "-nE", `\bfloat(32|64)\b|ParseFloat`, "--",
		"internal/money", "internal/orders", "internal/payments", "internal/receipts", "templates", ":!*_test.go").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		err = nil // nothing found
	}
	require.NoError(t, err)
	require.Empty(t, string(out))
}

// room is the name under which the table knows a package, "" for the root.
func room(importPath string) string {
	path := strings.TrimPrefix(strings.TrimPrefix(importPath, "shop/"), "internal/")
	if path == "database/dbtest" {
		return path
	}
	first, _, _ := strings.Cut(path, "/")
	if path == "internal" || first == "shop" {
		return ""
	}
	return first
}

func listPackages(t *testing.T) (packages []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "shop/...").Output()
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}
