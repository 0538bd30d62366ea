// Package money holds amounts as integers of the minor unit beside a
// lower-case ISO 4217 code. No float comes near an amount: 8.20 has no exact
// binary form, and the lost cent has been charged by others before us.
package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxAmount is the largest amount of a charge in minor units that Stripe
// takes: eight digits (OpenAPI description of payment_intents.amount).
const MaxAmount = 99_999_999

// Money is an amount in minor units (cents for usd, whole yen for jpy) of one
// currency. The zero value is no money in no currency.
type Money struct {
	Amount   int64
	Currency string
}

// Add returns the sum. It refuses to add two currencies and to overflow.
func (m Money) Add(n Money) (Money, error) {
	if m.Currency != n.Currency {
		return Money{}, fmt.Errorf("adding %s to %s: the currencies differ", n.Currency, m.Currency)
	}
	sum := m.Amount + n.Amount
	if (sum > m.Amount) != (n.Amount > 0) && n.Amount != 0 {
		return Money{}, errors.New("adding two amounts: the sum does not fit in 64 bits")
	}
	return Money{Amount: sum, Currency: m.Currency}, nil
}

// Times returns the amount of n equal pieces. It refuses to overflow.
func (m Money) Times(n int64) (Money, error) {
	product := m.Amount * n
	if n != 0 && (product/n != m.Amount || (n == -1 && m.Amount == product && m.Amount != 0)) {
		return Money{}, errors.New("multiplying an amount: the product does not fit in 64 bits")
	}
	return Money{Amount: product, Currency: m.Currency}, nil
}

// Decimal prints the amount in major units without a sign of currency:
// 4800 usd is "48.00", 500 jpy is "500".
func (m Money) Decimal() string {
	exp, err := Exponent(m.Currency)
	if err != nil {
		exp = 0
	}
	digits, sign := strconv.FormatInt(m.Amount, 10), ""
	if digits[0] == '-' {
		digits, sign = digits[1:], "-"
	}
	if exp == 0 {
		return sign + digits
	}
	if missing := exp + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-exp] + "." + digits[len(digits)-exp:]
}

// Format prints the amount for a person: "$1,048.00", "¥500", "CHF 12.50".
func (m Money) Format() string {
	if m.Currency == "" {
		return "–"
	}
	text, sign := m.Decimal(), ""
	if text[0] == '-' {
		text, sign = text[1:], "−"
	}
	whole, fraction, hasFraction := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	if symbol, ok := symbols[m.Currency]; ok {
		return sign + symbol + whole
	}
	return sign + strings.ToUpper(m.Currency) + " " + whole
}

// String is Format, so that a log line or an error shows an amount as a person reads it.
func (m Money) String() string { return m.Format() }

// Parse reads an amount typed in major units, such as "19.99" for usd or
// "500" for jpy. It takes exactly the decimals that the currency has, or none
// at all; anything else is refused rather than rounded.
func Parse(text, currency string) (Money, error) {
	exp, err := Exponent(currency)
	if err != nil {
		return Money{}, err
	}
	example := Money{Amount: 1999, Currency: currency}.Decimal()
	whole, fraction, hasFraction := strings.Cut(text, ".")
	if !allDigits(whole) || len(whole) > 15 || (hasFraction && (len(fraction) != exp || !allDigits(fraction))) {
		return Money{}, fmt.Errorf("amount %q is not an amount in %s; write it like %s", text, currency, example)
	}
	if !hasFraction {
		fraction = strings.Repeat("0", exp)
	}
	amount, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return Money{}, fmt.Errorf("amount %q does not fit; write it like %s", text, example)
	}
	return Money{Amount: amount, Currency: currency}, nil
}

func allDigits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
