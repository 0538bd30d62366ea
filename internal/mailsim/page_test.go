package mailsim

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

func TestAPI_Filters(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.mustSend(mail("one", "1@x"), "ada@example.com")
	i.mustSend(mail("two", "2@x"), "bada@example.com", "Grace@Example.com")
	i.mustSend(mail("three", "1@x"), "linus@example.com")
	for path, want := range map[string][]string{
		"":                                   {"three", "two", "one"},
		"?to=ada@example.com":                {"one"},
		"?to=ADA@EXAMPLE.COM":                {"one"},
		"?to=grace@example.com":              {"two"},
		"?to=ada":                            {},
		"?q=linus@":                          {"three"},
		"?q=ADA@":                            {"three", "two", "one"}, // the To header of all three
		"?message_id=1@x":                    {"three", "one"},
		"?message_id=%3C1@x%3E":              {"three", "one"},
		"?message_id=1@x&to=ada@example.com": {"one"},
		"?limit=1":                           {"three"},
		"?before=3&limit=1":                  {"two"},
		"?message_id=none":                   {},
	} {
		require.Equal(t, want, i.subjects("/api/messages"+path), path)
	}
	require.Equal(t, 3, get[listAnswer](i, "/api/messages?limit=1").Total, "the total does not depend on the limit")
	for path, want := range map[string]string{"?limit=0": "limit", "?limit=x": "limit", "?before=-1": "before", "?messageid=1": "messageid"} {
		answer := i.request("GET", "/api/messages"+path, "")
		require.Equal(t, 400, answer.StatusCode, path)
		require.Contains(t, body(t, answer), want)
	}
	for _, path := range []string{"/api/messages/4", "/api/messages/0", "/api/messages/x", "/api/nothing"} {
		answer := i.request("GET", path, "")
		require.Equal(t, 404, answer.StatusCode, path)
		require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
	}
}

func TestList_ShowsNewestFirstAndRepeats(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 34, 56, 0, time.Local)
	i := startInbox(t, Config{Now: func() time.Time { return at }})
	require.Contains(t, visible(i.page("/").Find("main")), "No mail Nothing has been sent yet.")
	i.mustSend(mail("first", "1@x"), "ada@example.com", "grace@example.com")
	i.mustSend(mail("second", "2@x"))
	i.mustSend(mail("first", "1@x"))
	i.mustSend("\r\nbody\r\n")

	page := i.page("/")
	require.Equal(t, "Inbox", page.Find("title").Text())
	require.Equal(t, "4 messages", visible(page.Find("h1")))
	var rows []string
	page.Find(".rows li").Each(func(_ int, s *goquery.Selection) { rows = append(rows, visible(s)) })
	require.Equal(t, []string{
		"ada@example.com (no subject) no Message-ID 12:34:56",
		"ada@example.com first delivered 2 times 1@x 12:34:56",
		"ada@example.com second 2@x 12:34:56",
		"ada@example.com, grace@example.com first delivered 2 times 1@x 12:34:56",
	}, rows)
	link, _ := page.Find(".rows a").Eq(1).Attr("href")
	message := i.page(link)
	require.Equal(t, "first delivered 2 times", visible(message.Find("h1")))
	require.Contains(t, visible(message.Find(".facts")), "Also delivered 12:34:56 to ada@example.com, grace@example.com")
}

func TestList_SearchAndPages(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	for n := range pageSize*2 + 1 {
		_, err := i.box.add(time.Now(), "shop@example.com", []string{fmt.Sprintf("u%d+x@example.com", n%2)}, []byte("Subject: m\r\n\r\n"))
		require.NoError(t, err)
	}
	page := i.page("/?q=" + url.QueryEscape(" U1+x@ "))
	require.Equal(t, "50 of 101 messages with “U1+x@”", visible(page.Find("h1")))
	require.Equal(t, 50, page.Find(".rows li").Length())
	require.Zero(t, page.Find(".pager").Length(), "fifty match, and all are shown")
	value, _ := page.Find("#q").Attr("value")
	require.Equal(t, "U1+x@", value)

	seen := map[string]bool{}
	pages := 0
	for path := "/"; path != ""; pages++ {
		page := i.page(path)
		page.Find(".rows a").Each(func(_ int, s *goquery.Selection) {
			href, _ := s.Attr("href")
			require.False(t, seen[href], "%s twice", href)
			seen[href] = true
		})
		path, _ = page.Find(`.pager a:contains("Older")`).Attr("href")
	}
	require.Equal(t, 3, pages)
	require.Len(t, seen, 101)
	require.Contains(t, visible(i.page("/?q=nobody").Find("main")), "No message from or to an address with “nobody”.")
}

func TestList_NotSentAgainUnlessChanged(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	tag := i.request("GET", "/", "").Header.Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, i.request("GET", "/", "", "If-None-Match", tag).StatusCode)
	i.mustSend(mail("a", "a@x"))
	changed := i.request("GET", "/", "", "If-None-Match", tag)
	require.Equal(t, http.StatusOK, changed.StatusCode)
	i.arm(`{"kind":"tempfail"}`)
	require.Equal(t, http.StatusOK, i.request("GET", "/", "", "If-None-Match", changed.Header.Get("ETag")).StatusCode)
}

func TestMessage_Views(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.mustSend("Subject: hi\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n" +
		"--b\r\nContent-Type: text/plain\r\n\r\nplain words\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>rich words\r\n--b--\r\n")
	i.mustSend("Subject: text only\r\n\r\nplain words\r\n")

	page := i.page("/messages/1")
	require.Equal(t, "HTML Text Headers Raw", visible(page.Find(".tabs")))
	require.Equal(t, "HTML", visible(page.Find(".tabs [aria-current=page]")))
	frame := page.Find("iframe")
	src, _ := frame.Attr("src")
	require.Equal(t, "/messages/1/html", src)
	require.Contains(t, body(t, i.request("GET", src, "")), "<p>rich words")
	require.Equal(t, "plain words", visible(i.page("/messages/1?view=text").Find(".pane")))
	require.Contains(t, visible(i.page("/messages/1?view=headers").Find(".pane")), "Content-Type multipart/alternative; boundary=b")
	require.Contains(t, visible(i.page("/messages/1?view=raw").Find(".pane")), "--b Content-Type: text/html")
	require.Equal(t, "HTML", visible(i.page("/messages/1?view=nonsense").Find(".tabs [aria-current=page]")))
	require.Equal(t, "Text Headers Raw", visible(i.page("/messages/2").Find(".tabs")))
	require.Equal(t, "plain words", visible(i.page("/messages/2").Find(".pane")))

	for _, path := range []string{"/messages/3", "/messages/x", "/messages/3/html", "/messages/3/raw", "/messages/1/parts/0", "/messages/1/parts/-1", "/nowhere"} {
		answer := i.request("GET", path, "")
		require.Equal(t, 404, answer.StatusCode, path)
		require.Contains(t, body(t, answer), "Nothing here", path)
	}
	require.Equal(t, 405, i.request("POST", "/nowhere", "").StatusCode)
}

func TestPage_ButtonsDoWhatTheySay(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.mustSend(mail("a", "a@x"))
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	require.Equal(t, 303, i.request("POST", "/faults", "kind=tempfail&count=2&match=ada", form...).StatusCode)
	require.Equal(t, []Fault{{Kind: "tempfail", Count: 2, Match: "ada"}}, get[faultState](i, "/api/faults").Faults)
	require.Contains(t, visible(i.page("/").Find(".notice")), "tempfail for ada , 2 times more")
	require.Equal(t, 422, i.request("POST", "/faults", "kind=tempfail&count=lots", form...).StatusCode)
	require.Equal(t, 303, i.request("POST", "/faults/clear", "", form...).StatusCode)
	require.Empty(t, get[faultState](i, "/api/faults").Faults)
	i.page("/").Find("#kind option").Each(func(n int, s *goquery.Selection) {
		value, _ := s.Attr("value")
		require.Equal(t, faultKinds[n], value)
	})

	require.Contains(t, visible(i.page("/").Find(".foot")), "Delete 1 message")
	require.Equal(t, 303, i.request("POST", "/clear", "", form...).StatusCode)
	require.Zero(t, get[listAnswer](i, "/api/messages").Total)
}

func TestSecurity_OtherSitesCannotReachIn(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{PublicURL: "http://mail.example"})
	i.mustSend(mail("a", "a@x"))
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "http://evil.example"}} {
		for _, r := range [][2]string{{"POST", "/clear"}, {"DELETE", "/api/messages"}, {"POST", "/api/faults"}, {"DELETE", "/api/faults"}, {"POST", "/faults"}} {
			require.Equal(t, 403, i.request(r[0], r[1], `{"kind":"tempfail"}`, header...).StatusCode, "%v %v", r, header)
		}
	}
	require.Equal(t, 1, get[listAnswer](i, "/api/messages").Total)
	require.Equal(t, 200, i.request("DELETE", "/api/messages", "", "Origin", "http://mail.example", "Sec-Fetch-Site", "cross-site").StatusCode)
}

func TestSecurity_HostileMessageIsInert(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	i.mustSend("Subject: " + evil + "\r\nFrom: " + evil + "\r\nTo: " + evil + "\r\nMessage-ID: <" + evil + ">\r\nX-Odd: " + evil + "\r\n" +
		"Content-Type: text/plain; charset=\"" + evil + "\"\r\n\r\n" + evil + "\r\n")
	i.mustSend("Content-Type: text/html\r\n\r\n<base href='http://evil.example/'><meta http-equiv=refresh content='0;url=http://evil.example/'>" + evil)
	i.mustSend("Content-Type: text/html\r\nContent-Disposition: attachment; filename*=utf-8''%22%0d%0aX-Evil%3a%201%2f..%2fa.html\r\n\r\n" + evil)

	for _, path := range []string{"/", "/?q=" + url.QueryEscape(evil), "/messages/1?view=text", "/messages/1?view=headers", "/messages/1?view=raw", "/messages/2", "/messages/3"} {
		page := i.page(path)
		require.Zero(t, page.Find("img, script:not([src='/assets/inbox.js'])").Length(), path)
	}
	for _, path := range []string{"/", "/messages/1", "/messages/2", "/nowhere", "/api/messages/1"} {
		h := i.request("GET", path, "").Header
		require.Equal(t, pagePolicy, h.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
	}
	require.NotContains(t, pagePolicy, "unsafe")

	answer := i.request("GET", "/messages/2/html", "")
	policy := answer.Header.Get("Content-Security-Policy")
	require.True(t, strings.HasPrefix(policy, "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';"), policy)
	for _, loose := range []string{"allow-scripts", "allow-same-origin", "allow-forms", "allow-top-navigation", "script-src", "http"} {
		require.NotContains(t, policy, loose)
	}
	require.True(t, strings.HasPrefix(body(t, answer), `<!doctype html><base target="_blank">`), "the first base element is ours")
	sandbox, _ := i.page("/messages/2").Find("iframe").Attr("sandbox")
	require.Equal(t, "allow-popups allow-popups-to-escape-sandbox", sandbox)

	part := i.request("GET", "/messages/3/parts/0", "")
	require.Equal(t, "application/octet-stream", part.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(part.Header.Get("Content-Disposition"), "attachment"), part.Header)
	require.Empty(t, part.Header.Get("X-Evil"))
}
