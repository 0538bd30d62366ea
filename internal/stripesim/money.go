package stripesim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxAmount is Stripe's documented upper bound: eight digits.
const maxAmount = 99999999

// currencyList is what the refusal of an unknown currency recites.
const currencyList = "usd, aed, afn, all, amd, ang, aoa, ars, aud, awg, azn, bam, bbd, bdt, bgn, bhd, bif, bmd, bnd, bob, brl, bsd, bwp, byn, bzd, cad, cdf, chf, clp, cny, cop, crc, cve, czk, djf, dkk, dop, dzd, egp, etb, eur, fjd, fkp, gbp, gel, gip, gmd, gnf, gtq, gyd, hkd, hnl, hrk, htg, huf, idr, ils, inr, isk, jmd, jod, jpy, kes, kgs, khr, kmf, krw, kwd, kyd, kzt, lak, lbp, lkr, lrd, lsl, mad, mdl, mga, mkd, mmk, mnt, mop, mur, mvr, mwk, mxn, myr, mzn, nad, ngn, nio, nok, npr, nzd, omr, pab, pen, pgk, php, pkr, pln, pyg, qar, ron, rsd, rub, rwf, sar, sbd, scr, sek, sgd, shp, sle, sos, srd, std, szl, thb, tjs, tnd, top, try, ttd, twd, tzs, uah, ugx, uyu, uzs, vnd, vuv, wst, xaf, xcd, xof, xpf, yer, zar, zmw"

var currencies = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range strings.Split(currencyList, ", ") {
		m[c] = true
	}
	return m
}()

var zeroDecimal = []string{"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}

var threeDecimal = []string{"bhd", "jod", "kwd", "omr", "tnd"}

// smallestCharge is Stripe's documented minimum in minor units; others have none here.
var smallestCharge = map[string]int64{"usd": 50, "aed": 200, "aud": 50, "bgn": 100, "brl": 50, "cad": 50, "chf": 50, "czk": 1500,
	"dkk": 250, "eur": 50, "gbp": 30, "hkd": 400, "huf": 17500, "inr": 50, "jpy": 50, "mxn": 1000, "myr": 200, "nok": 300,
	"nzd": 50, "pln": 200, "ron": 200, "sek": 300, "sgd": 50, "thb": 1000}

var currencySymbols = map[string]string{"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥"}

// checkAmount refuses what cannot be charged in a currency.
func (r *reader) checkAmount(n int64, currency string) {
	least := max(smallestCharge[currency], 1)
	switch {
	case n < 0:
		r.fail(badInteger("amount", "Invalid positive integer"))
	case n == 0:
		r.fail(badInteger("amount", "This value must be greater than or equal to 1."))
	case n > maxAmount:
		r.fail(invalid("amount", "Amount must be no more than "+formatMoney(maxAmount, currency)).withCode("amount_too_large"))
	case n < least:
		r.fail(invalid("amount", "Amount must be at least "+formatMoney(least, currency)+" "+currency).withCode("amount_too_small"))
	case slices.Contains(threeDecimal, currency) && n%10 != 0:
		r.fail(invalid("amount", "Invalid amount: the last digit of an amount in "+currency+" must be 0."))
	}
}

// formatMoney writes minor units for people: 4000 usd is $40.00.
func formatMoney(n int64, currency string) string {
	symbol, ok := currencySymbols[currency]
	if !ok {
		symbol = strings.ToUpper(currency) + " "
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	switch {
	case slices.Contains(zeroDecimal, currency):
		return sign + symbol + group(n)
	case slices.Contains(threeDecimal, currency):
		return fmt.Sprintf("%s%s%s.%03d", sign, symbol, group(n/1000), n%1000)
	}
	return fmt.Sprintf("%s%s%s.%02d", sign, symbol, group(n/100), n%100)
}

func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
