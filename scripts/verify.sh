#!/bin/sh
# Fails when something that is generated, formatted or tidied has drifted from
# what it is made of, and says how to mend it.
set -eu
GO=${GO:-go}
fail() {
	echo "verify: $1" >&2
	exit 1
}

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || fail "not formatted; run gofmt -w on: $unformatted"

$GO mod tidy -diff >/dev/null || fail "go.mod is not tidy; run go mod tidy"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files -co --exclude-standard templates | grep -v '_templ\.go$' | tar cf - -T - | tar xf - -C "$work"
$GO tool templ generate -log-level error -path "$work/templates"
for file in $(git ls-files 'templates/*_templ.go'); do
	cmp -s "$file" "$work/$file" || fail "$file is not what its template generates; run make generate"
done

$GO run ./cmd/shop config | cmp -s - docs/config.md || fail "docs/config.md is not what the program says; run make generate"

large=$(git ls-files '*.go' | grep -v -e '_test\.go$' -e '_templ\.go$' | xargs wc -l | awk '$2 != "total" && $1 > 500 { print $2 }')
[ -z "$large" ] || fail "longer than 500 lines: $large"
echo "verify: nothing has drifted"
