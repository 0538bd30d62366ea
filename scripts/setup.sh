#!/bin/sh
# Installs what `make demo` and `make test` need and this machine lacks.
#
#   setup.sh demo    Go and the PostgreSQL server programs
#   setup.sh test    these, and Chromium, git and a C compiler (for go test -race)
#
# Debian and Ubuntu: through apt-get, as root or where sudo asks for no password.
# macOS: through Homebrew. Elsewhere it prints what to type and ends with 1.
# Where all is there it says nothing and ends with 0.
#
# SHOP_PG_BIN          directory with the PostgreSQL server programs
# SHOP_PG_DOWNLOAD=1   leave PostgreSQL to `shop demo`, which downloads its own
# SETUP_ROOT           prefix of the places looked at (for the test of this script)

set -eu

go_minor=26        # at least Go 1.26
pg_major=15        # at least PostgreSQL 15
root=${SETUP_ROOT:-}

say() { printf '%s\n' "$*" >&2; }
stop() { say "$@"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# pg_dir DIR: does it hold server programs that are new enough?
pg_dir() {
	[ -x "$1/initdb" ] && [ -x "$1/postgres" ] && [ -x "$1/pg_ctl" ] || return 1
	found=$("$1/postgres" --version 2>/dev/null | sed -n 's/^[^)]*) *\([0-9][0-9]*\).*/\1/p')
	[ "${found:-0}" -ge "$pg_major" ]
}

# The places that the program itself looks at, in its order.
have_postgres() {
	[ "${SHOP_PG_DOWNLOAD:-}" != 1 ] || return 0
	if [ -n "${SHOP_PG_BIN:-}" ]; then
		pg_dir "$SHOP_PG_BIN" || pg_dir "$SHOP_PG_BIN/bin" ||
			stop "SHOP_PG_BIN is $SHOP_PG_BIN, which does not hold initdb, postgres and pg_ctl of PostgreSQL $pg_major or newer." \
				"Set it to a directory like /usr/lib/postgresql/17/bin, or unset it."
		return 0
	fi
	if have postgres; then
		program=$(command -v postgres)
		pg_dir "${program%/*}" && return 0
		program=$(readlink -f "$program" 2>/dev/null || :)
		[ -n "$program" ] && pg_dir "${program%/*}" && return 0
	fi
	for dir in "$root"/usr/lib/postgresql/*/bin "$root"/usr/pgsql-*/bin "$root"/usr/lib/postgresql*/bin \
		"$root"/usr/libexec/postgresql* "$root"/opt/homebrew/opt/postgresql@*/bin "$root"/usr/local/opt/postgresql@*/bin \
		"$root"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin "$root"/Applications/Postgres.app/Contents/Versions/[0-9]*/bin; do
		pg_dir "$dir" && return 0
	done
	have pg_config && pg_dir "$(pg_config --bindir 2>/dev/null)"
}

have_chromium() {
	for name in headless_shell headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome; do
		have "$name" && return 0
	done
	[ -x "$root/snap/bin/chromium" ] || [ -x "$root/Applications/Chromium.app/Contents/MacOS/Chromium" ] ||
		[ -x "$root/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

# A compiler without the C library's headers is of no use to cgo.
have_compiler() {
	[ "$system" = Darwin ] && return 0 # the race detector needs none there
	have "${CC:-gcc}" || return 1
	printf '#include <stdlib.h>\n' | "${CC:-gcc}" -E - >/dev/null 2>&1
}

need_go() {
	if ! have go; then
		for dir in "$root/usr/local/go/bin" "${HOME:-}/go/bin" "${HOME:-}/sdk/go1.$go_minor/bin"; do
			[ -x "$dir/go" ] && stop "Go is not on the PATH. Type:  export PATH=\"\$PATH:$dir\""
		done
		[ "$system" = Darwin ] && stop "Go 1.$go_minor or newer is missing. Type:  brew install go"
		stop "Go 1.$go_minor or newer is missing. Get it from https://go.dev/dl/ and follow https://go.dev/doc/install"
	fi
	version=$(go env GOVERSION 2>/dev/null || :)
	minor=$(printf '%s\n' "$version" | sed -n 's/^go1\.\([0-9][0-9]*\).*/\1/p')
	case $version in
	go[2-9]* | devel*) return 0 ;;
	esac
	[ "${minor:-0}" -ge "$go_minor" ] ||
		stop "Go is ${version:-of an unknown version}, and 1.$go_minor or newer is needed. Get it from https://go.dev/dl/"
}

# as_root COMMAND…: run it as root without asking.
as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() {
	[ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }
}

# quietly COMMAND…: what it prints is shown only if it fails.
quietly() {
	"$@" >"$log" 2>&1 </dev/null || {
		tail -n 15 "$log" >&2
		return 1
	}
}

# apt_postgres: the newest server package on offer that is new enough.
apt_postgres() {
	apt-cache search --names-only '^postgresql-[0-9]+$' 2>/dev/null | sed -n 's/^postgresql-\([0-9][0-9]*\) .*/\1/p' |
		sort -n | while read -r n; do [ "$n" -lt "$pg_major" ] || printf 'postgresql-%s\n' "$n"; done | tail -n 1
}

apt_chromium() {
	# Ubuntu's package of this name only leads to a snap, which needs snapd.
	if [ -r "$root/etc/os-release" ] && grep -q '^ID=ubuntu' "$root/etc/os-release"; then
		if have snap; then printf 'chromium-browser\n'; fi
	else
		printf 'chromium\n'
	fi
}

by_hand_apt() {
	[ -z "$packages" ] || say "  sudo apt-get update && sudo apt-get install --no-install-recommends$packages"
	for thing in $beyond; do
		case $thing in
		postgres)
			say "  sudo apt-get install postgresql-common && sudo /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y &&" \
				"sudo apt-get install --no-install-recommends postgresql-17"
			say "  (or let the program download its own PostgreSQL: SHOP_PG_DOWNLOAD=1 make demo)"
			;;
		chromium)
			say "  curl -LO https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb &&" \
				"sudo apt-get install ./google-chrome-stable_current_amd64.deb"
			;;
		esac
	done
}

# apt_packages: turns what is missing into packages, and into beyond what this
# distribution does not offer.
apt_packages() {
	packages= beyond=
	for thing in $missing; do
		case $thing in
		postgres) name=$(apt_postgres) ;;
		chromium) name=$(apt_chromium) ;;
		compiler) name='gcc libc6-dev' ;;
		*) name=$thing ;;
		esac
		if [ -n "$name" ]; then packages="$packages $name"; else beyond="$beyond $thing"; fi
	done
}

with_apt() {
	if ! can_be_root; then
		apt_packages
		case " $beyond " in *" postgres "*)
			# Perhaps only the lists are missing, and then this name will do.
			[ -n "$(apt-cache search --names-only '^postgresql$' 2>/dev/null)" ] ||
				{ packages="$packages postgresql"; beyond=$(printf '%s' "$beyond" | sed 's/ postgres//'); } ;;
		esac
		say "Missing:$missing. Installing needs root, and sudo would ask for a password. Type:"
		by_hand_apt
		exit 1
	fi
	quietly as_root apt-get update -q || say "(apt-get update did not go through; trying with what is known)"
	apt_packages
	if [ -n "$packages" ]; then
		say "Installing$packages"
		# The package would make and start a cluster of its own. This asks it not
		# to, for the time of this installation.
		dropin=$root/etc/postgresql-common/createcluster.d/zz-shop-setup.conf
		trap 'rm -f "$log"; as_root rm -f "$dropin"; as_root rmdir "${dropin%/*}" 2>/dev/null || :' EXIT
		trap 'exit 1' HUP INT TERM
		case $packages in *postgresql*)
			as_root mkdir -p "${dropin%/*}"
			printf 'create_main_cluster = false\n' | as_root tee "$dropin" >/dev/null
			;;
		esac
		# shellcheck disable=SC2086 # a list of package names
		quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages || {
			say "apt-get did not go through. Type:"
			by_hand_apt
			exit 1
		}
	fi
	if [ -n "$beyond" ]; then
		say "This distribution does not offer:$beyond. Type:"
		packages=
		by_hand_apt
		exit 1
	fi
}

with_brew() {
	formulas=
	for thing in $missing; do
		case $thing in
		postgres) formulas="$formulas postgresql@17" ;;
		chromium) formulas="$formulas chromium" ;;
		*) formulas="$formulas $thing" ;;
		esac
	done
	if [ "$(id -u)" = 0 ]; then
		stop "Missing:$missing. Homebrew does not run as root. As your own user, type:  brew install$formulas"
	fi
	say "Installing$formulas"
	# shellcheck disable=SC2086 # a list of formulas
	quietly brew install $formulas || stop "brew did not go through. Type:  brew install$formulas"
}

by_hand() {
	say "Missing:$missing. This script knows apt-get and Homebrew only. Type one of:"
	say "  sudo dnf install$(names 'postgresql-server' 'chromium' 'gcc glibc-devel')"
	say "  sudo zypper install$(names 'postgresql-server' 'chromium' 'gcc glibc-devel')"
	say "  sudo pacman -S$(names 'postgresql' 'chromium' 'gcc')"
	say "  sudo apk add$(names 'postgresql' 'chromium' 'gcc musl-dev')"
	case " $missing " in *" postgres "*)
		say "or set SHOP_PG_BIN to the directory that holds initdb, postgres and pg_ctl, or let the program download them: SHOP_PG_DOWNLOAD=1" ;;
	esac
	exit 1
}

# names POSTGRES CHROMIUM COMPILER: what is missing, as a distribution calls it.
names() {
	for thing in $missing; do
		case $thing in
		postgres) printf ' %s' "$1" ;;
		chromium) printf ' %s' "$2" ;;
		compiler) printf ' %s' "$3" ;;
		*) printf ' %s' "$thing" ;;
		esac
	done
}

# look: what is missing for the mode.
look() {
	missing=
	have_postgres || missing="$missing postgres"
	[ "$mode" = demo ] || {
		have_chromium || missing="$missing chromium"
		have git || missing="$missing git"
		have_compiler || missing="$missing compiler"
	}
}

mode=${1:-}
case $#$mode in
1demo | 1test) ;;
*) say "usage: setup.sh demo | test"; exit 2 ;;
esac
system=$(uname -s)
need_go
look
[ -n "$missing" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if have apt-get; then
	with_apt
elif have brew; then
	with_brew
elif [ "$system" = Darwin ]; then
	stop "Missing:$missing. Install Homebrew from https://brew.sh and run this again."
else
	by_hand
fi
look
[ -z "$missing" ] || stop "Still missing after the installation:$missing"
