package e2e

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// newSignInLink makes a one-time link beside the one that the demo prints,
// which can be used by one test only. The table holds the hash of its token.
func (d *demo) newSignInLink(t *testing.T) string {
	t.Helper()
	token := rand.Text()
	hash := sha256.Sum256([]byte(token))
	_, err := d.db.Exec(context.Background(), `INSERT INTO sign_in_links (token_hash, actor, expires_at)
		VALUES ($1, 'e2e', clock_timestamp() + interval '1 hour')`, hex.EncodeToString(hash[:]))
	require.NoError(t, err)
	return "/admin/sign-in?token=" + url.QueryEscape(token)
}

// signIn makes the shopper an operator.
func (s *shopper) signIn(d *demo) {
	s.t.Helper()
	a := s.get(d.newSignInLink(s.t))
	require.Equal(s.t, http.StatusSeeOther, a.Status, a.Body)
	require.Equal(s.t, "/admin/operations", a.Header.Get("Location"))
}

func TestAdmin_ShowsNothingToStrangers(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	o := d.place(t, "admin-stranger", newEmail("joan"), "enamel-mug", 1, "pm_card_visa")
	d.completed(t, o)
	key := d.operations(t, o, "charge")[0].Key
	s := newShopper(t, d.ShopURL)
	for _, path := range []string{"/admin", "/admin/operations", "/admin/operations/" + key, "/admin/operations?kind=charge", "/admin/sign-in"} {
		a := s.get(path)
		require.Equal(t, http.StatusUnauthorized, a.Status, path)
		require.Contains(t, a.text("main"), "one-time link", path)
		require.NotContains(t, a.Body, key[:12], path)
		require.NotContains(t, a.Body, fmt.Sprintf("order %d", o.ID), path)
		require.Zero(t, a.Page.Find("table, .timeline").Length(), path)
	}
	forged := s.request(http.MethodGet, "/admin/operations", nil)
	forged.AddCookie(&http.Cookie{Name: "admin", Value: rand.Text()})
	require.Equal(t, http.StatusUnauthorized, s.do(forged).Status)
	require.Equal(t, http.StatusUnauthorized, s.post("/admin/sign-out", nil).Status)

	a := s.get("/admin/sign-in?token=" + rand.Text())
	require.Equal(t, http.StatusUnauthorized, a.Status)
	require.Contains(t, a.text("main"), "expired")
}

func TestAdmin_TheLinkSignsInOnceAndTheDashboardTellsTheStory(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	o := d.place(t, "admin-story", newEmail("ruth"), "enamel-mug", 2, "pm_card_visa")
	d.completed(t, o)
	charge, receipt := d.operations(t, o, "charge")[0], d.operations(t, o, "receipt-email")[0]

	b := newTab(t)
	b.open(d.AdminLoginURL)
	b.arrive("/admin/operations")
	require.NotContains(t, b.eval("location.href"), "token=", "the token is not left in the address")

	// The link is spent: another browser is refused, this one stays in.
	stranger := newTab(t)
	stranger.expect("status of 401")
	stranger.open(d.AdminLoginURL)
	require.Contains(t, stranger.eval(`document.querySelector("main").innerText`), "This link was used already")
	require.Equal(t, "0", stranger.eval(`document.querySelectorAll("table").length`))
	b.open(d.AdminLoginURL)
	b.arrive("/admin/operations")

	for _, op := range []operation{charge, receipt} {
		b.open(d.AdminURL + "/operations")
		b.do(chromedp.SetValue(chromedp.CSS("#kind"), op.Kind))
		b.click("form.filter button")
		b.until(fmt.Sprintf(`new URLSearchParams(location.search).get("kind") === %q && document.readyState === "complete"`, op.Kind))
		row := fmt.Sprintf(`[...document.querySelectorAll("tbody tr")].find(r => r.querySelector('a[href="/admin/operations/%s"]'))`, op.Key)
		for b.eval("Boolean("+row+")") != "true" {
			// Other tests have pushed it off the page.
			last := b.eval("location.href")
			b.click("a[rel=next]")
			b.until(fmt.Sprintf(`location.href !== %q && document.readyState === "complete"`, last))
		}
		text := b.eval(row + ".innerText")
		require.Contains(t, text, fmt.Sprintf("order %d", o.ID))
		require.Contains(t, text, "done")
		require.Contains(t, text, "succeeded")
		require.Equal(t, fmt.Sprint(op.Fence), b.eval(row+`.querySelector('[data-label="Fence"]').textContent.trim()`))

		b.click(`a[href="/admin/operations/` + op.Key + `"]`)
		b.arrive("/admin/operations/" + op.Key)
		require.Equal(t, op.Key, b.eval(`document.querySelector("#operation-key").textContent`))
		timeline := b.eval(`[...document.querySelectorAll(".timeline li")].map(e => e.innerText.toLowerCase()).join("\n")`)
		for _, event := range []string{"planned", "claimed", "provider call", "completed"} {
			require.Contains(t, timeline, event, "the timeline of %s", op.Kind)
		}
		require.Contains(t, b.eval(`document.querySelector("main").innerText`), op.Ref)
	}
	b.click(`a[href="/orders/` + o.PublicID + `"]`)
	b.arrive("/orders/" + o.PublicID)
}

func TestAdmin_SigningOutEndsTheSession(t *testing.T) {
	t.Parallel()
	d := sharedDemo(t)
	s := newShopper(t, d.ShopURL)
	s.signIn(d)
	require.Equal(t, http.StatusOK, s.get("/admin/operations").Status)
	at, err := url.Parse(d.AdminURL + "/")
	require.NoError(t, err)
	old := s.http.Jar.Cookies(at)
	require.Equal(t, http.StatusSeeOther, s.post("/admin/sign-out", nil).Status)
	require.Equal(t, http.StatusUnauthorized, s.get("/admin/operations").Status)
	replay := s.request(http.MethodGet, "/admin/operations", nil)
	for _, c := range old {
		replay.AddCookie(c)
	}
	require.Equal(t, http.StatusUnauthorized, s.do(replay).Status, "a copy of the cookie is worth nothing")
}
