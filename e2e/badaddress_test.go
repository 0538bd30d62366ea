package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Addresses may hold text that the database would refuse.
func TestBadInput_Addresses(t *testing.T) {
	d := sharedDemo(t)
	d.drained(t)
	s := newShopper(t, d.ShopURL)
	s.signIn(d)
	for _, path := range []string{"/products/a%00b", "/products/a%ffb", "/products/%c0%af", "/orders/ord_%00", "/orders/ord_%ff",
		"/orders/ord_%ff/events", "/orders/ord_%00/authenticate", "/orders/ord_%00/return", "/admin/operations/%00", "/admin/operations/%ff"} {
		t.Run(path, func(t *testing.T) {
			d.unchanged(t, func() { require.Equal(t, http.StatusNotFound, s.get(path).Status) })
		})
	}
	for _, path := range []string{"/admin/operations?state=%00&kind=%ff&before=1.%00", "/?%00=%ff", "/cart?q=%ff"} {
		t.Run(path, func(t *testing.T) {
			d.unchanged(t, func() { refusal(t, s.get(path), http.StatusBadRequest, "UTF-8") })
		})
	}
	for _, path := range []string{"/orders/ord_%00", "/orders/ord_%ff"} {
		t.Run("the API's "+path, func(t *testing.T) {
			d.unchanged(t, func() {
				status, header, raw := call(t.Context(), d.ready, http.MethodGet, path, "", "")
				require.Equal(t, http.StatusNotFound, status, string(raw))
				require.Equal(t, "application/problem+json", header.Get("Content-Type"))
			})
		})
	}
}
