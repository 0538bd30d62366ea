package stripesim

import (
	"net/http"
	"slices"
	"strings"
)

// versions are API versions Stripe has published. Requests in any of them are
// accepted and the version is echoed; objects are always shown as in apiVersion.
var versions = strings.Fields(`2011-01-01 2014-01-31 2015-10-16 2016-07-06 2017-08-15 2017-12-14 2018-01-23 2018-02-05
2018-02-06 2018-02-28 2018-05-21 2018-07-27 2018-08-23 2018-09-06 2018-09-24 2018-10-31 2018-11-08 2019-02-11 2019-02-19
2019-03-14 2019-05-16 2019-08-14 2019-09-09 2019-10-08 2019-10-17 2019-11-05 2019-12-03 2020-03-02 2020-08-27 2022-08-01
2022-11-15 2023-08-16 2023-10-16 2024-04-10 2024-06-20 2024-09-30.acacia 2025-03-31.basil 2025-09-30.clover 2026-08-26.dahlia`)

// requestVersion returns the version a request is answered in.
func requestVersion(h http.Header) (string, *apiError) {
	v := h.Get("Stripe-Version")
	if v == "" {
		return apiVersion, nil
	}
	base, _, _ := strings.Cut(v, ";") // beta features follow a semicolon
	if !slices.Contains(versions, strings.TrimSpace(base)) {
		return apiVersion, invalid("", "Invalid Stripe API version: "+v+". Please use a version that exists, e.g. "+apiVersion+".")
	}
	return v, nil
}
