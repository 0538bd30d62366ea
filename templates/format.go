package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// exactTime prints a moment so that two people read the same one.
func exactTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// preciseTime is exactTime for operators, to the millisecond.
func preciseTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

// machineTime is the datetime attribute.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// age prints how long ago a moment was in its largest unit.
func age(now, then time.Time) string {
	if then.IsZero() {
		return "–"
	}
	return span(now.Sub(then))
}

// span prints a duration in its largest whole unit: "12 s", "5 min", "3 h", "2 d".
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " d"
}

// shortKey is enough of an operation key to tell two apart on one page.
func shortKey(key string) string {
	if len(key) <= 12 {
		return key
	}
	return key[:12] + "…"
}

// words turns a machine's name into a reader's: "charge_order" is "charge order".
func words(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(name)
}

// capital is words with a capital, to begin a line or a heading.
func capital(name string) string {
	text := words(name)
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// count prints a number of things with its thousands apart: 48,210.
func count(n int64) string {
	text := number(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// pieces counts pieces of goods.
func pieces(n int) string {
	if n == 1 {
		return "1 piece"
	}
	return fmt.Sprintf("%d pieces", n)
}

func countPieces(lines []LineView) int {
	n := 0
	for _, l := range lines {
		n += l.Quantity
	}
	return n
}

// clockTime is the time of day of an event, to the millisecond.
func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// timeValue lets components take a time without importing its package.
type timeValue = time.Time

func itoa(n int) string { return strconv.Itoa(n) }

// number prints a count or an amount in minor units.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// detailJSON keeps short JSON on one line, as most events have, and lays out
// the rest.
func detailJSON(text string) string {
	if len(text) <= 120 {
		return text
	}
	return indentJSON(text)
}

// indentJSON lays out JSON for reading; what is not JSON is shown as it is.
func indentJSON(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}
