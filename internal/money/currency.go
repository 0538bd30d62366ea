package money

import (
	"fmt"
	"strings"
)

// zeroDecimal and threeDecimal are the currencies whose minor unit is not a
// hundredth, as Stripe counts them (docs.stripe.com/currencies). ISK and UGX
// are kept out of zeroDecimal on purpose: Stripe takes them with two decimals
// for backward compatibility although nobody spends their hundredths.
var (
	zeroDecimal  = set("bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf")
	threeDecimal = set("bhd jod kwd omr tnd")
	twoDecimal   = set(`usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd
		cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl hrk htg huf
		idr ils inr isk jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn
		nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl
		thb tjs top try ttd twd tzs uah ugx uyu uzs wst xcd yer zar zmw`)
)

// symbols are the signs that a reader takes for one currency only; every
// other currency is shown with its code.
var symbols = map[string]string{
	"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥", "krw": "₩", "inr": "₹", "ils": "₪", "vnd": "₫", "try": "₺", "ngn": "₦",
}

func set(list string) map[string]bool {
	m := map[string]bool{}
	for code := range strings.FieldsSeq(list) {
		m[code] = true
	}
	return m
}

// Exponent says how many decimal digits separate the minor unit of a currency
// from its major unit: 2 for usd, 0 for jpy, 3 for kwd. The code is lower-case
// ISO 4217. An unknown code is an error, never a guess: guessing 2 charges a
// customer in yen a hundred times the price.
func Exponent(currency string) (int, error) {
	switch {
	case twoDecimal[currency]:
		return 2, nil
	case zeroDecimal[currency]:
		return 0, nil
	case threeDecimal[currency]:
		return 3, nil
	}
	return 0, fmt.Errorf("currency %q is not known; give a lower-case ISO 4217 code such as usd, eur or jpy", currency)
}
