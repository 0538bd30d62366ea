package money_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"shop/internal/money"
)

func TestFormatShowsTheDecimalsThatTheCurrencyHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount            int64
		currency, shown   string
		decimalsOnlyPlain string
	}{
		{4800, "usd", "$48.00", "48.00"},
		{5, "usd", "$0.05", "0.05"},
		{123456789, "usd", "$1,234,567.89", "1234567.89"},
		{-1050, "usd", "−$10.50", "-10.50"},
		{500, "jpy", "¥500", "500"},
		{40000, "jpy", "¥40,000", "40000"},
		{1250, "chf", "CHF 12.50", "12.50"},
		{12500, "kwd", "KWD 12.500", "12.500"},
		{0, "eur", "€0.00", "0.00"},
		{math.MinInt64, "jpy", "−¥9,223,372,036,854,775,808", "-9223372036854775808"},
	} {
		m := money.Money{Amount: c.amount, Currency: c.currency}
		require.Equal(t, c.shown, m.Format())
		require.Equal(t, c.decimalsOnlyPlain, m.Decimal())
	}
}

// docs/peers.md row 107: a price read through a float lost a cent in 573 of 10,000 cases.
func TestRow107_EveryCentFrom001To100RoundTrips(t *testing.T) {
	t.Parallel()
	for cents := int64(1); cents <= 10_000; cents++ {
		text := fmt.Sprintf("%d.%02d", cents/100, cents%100)
		m, err := money.Parse(text, "usd")
		require.NoError(t, err)
		require.Equal(t, cents, m.Amount, text)
		require.Equal(t, text, m.Decimal())
	}
}

// docs/peers.md row 104: ¥500 was charged as 50,000.
func TestRow104_YenHasNoMinorUnit(t *testing.T) {
	t.Parallel()
	m, err := money.Parse("500", "jpy")
	require.NoError(t, err)
	require.Equal(t, int64(500), m.Amount)
	_, err = money.Parse("500.00", "jpy")
	require.ErrorContains(t, err, `"500.00"`)
}

func TestParseRefusesWhatIsNotAnAmount(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", ".", "1.", ".5", "1.5", "1.555", "-1.00", "+1.00", "1,00", "1e2", " 1.00", "١.٠٠", "99999999999999999999.00"} {
		_, err := money.Parse(text, "usd")
		require.Error(t, err, text)
	}
	_, err := money.Parse("1.00", "zzz")
	require.ErrorContains(t, err, `"zzz"`)
	_, err = money.Parse("1.00", "USD")
	require.ErrorContains(t, err, "lower-case")
}

func TestArithmeticRefusesMixedCurrenciesAndOverflow(t *testing.T) {
	t.Parallel()
	usd := money.Money{Amount: 100, Currency: "usd"}
	sum, err := usd.Add(money.Money{Amount: 250, Currency: "usd"})
	require.NoError(t, err)
	require.Equal(t, int64(350), sum.Amount)
	_, err = usd.Add(money.Money{Amount: 1, Currency: "eur"})
	require.ErrorContains(t, err, "differ")
	_, err = money.Money{Amount: math.MaxInt64, Currency: "usd"}.Add(usd)
	require.Error(t, err)
	product, err := usd.Times(3)
	require.NoError(t, err)
	require.Equal(t, int64(300), product.Amount)
	_, err = money.Money{Amount: math.MaxInt64 / 2, Currency: "usd"}.Times(3)
	require.Error(t, err)
}
