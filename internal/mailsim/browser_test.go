//go:build browser

// These tests look at the inbox with a real Chromium:
// go test -tags browser ./internal/mailsim/
package mailsim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, target string) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(target)))
	return ctx
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	require.NoError(t, err)
	return v
}

func until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	require.Eventually(t, func() bool {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		return err == nil && ok
	}, 20*time.Second, 20*time.Millisecond, "waiting for %s", js)
}

func TestBrowser_ListFollowsByItself(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.mustSend(mail("first", "1@x"))
	ctx := open(t, i.web+"/")
	eval[any](t, ctx, `document.querySelector("#q").value = "half typed", document.querySelector(".row").focus(), null`)
	i.mustSend(mail("second", "2@x"))
	until(t, ctx, `document.querySelectorAll(".row").length === 2`)
	require.Equal(t, "2 messages", eval[string](t, ctx, `document.querySelector("h1").textContent`))
	require.Equal(t, "/messages/1", eval[string](t, ctx, `document.activeElement.getAttribute("href")`), "focus stays where it was")
	require.Equal(t, "half typed", eval[string](t, ctx, `document.querySelector("#q").value`))
	require.NoError(t, chromedp.Do(ctx, chromedp.Click(".row")))
	until(t, ctx, `document.querySelector("article h1")?.textContent.trim() === "second"`)
}

// TestBrowser_HostileHTML opens a message that tries what it can, and clicks on
// it. Whatever works calls the outside. Served without our policy it does.
func TestBrowser_HostileHTML(t *testing.T) {
	t.Parallel()
	called := make(chan string, 1000)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/favicon.ico" {
			called <- r.URL.Path
		}
	}))
	t.Cleanup(outside.Close)
	hostile := "<html><body onload=\"location='" + outside.URL + "/onload'\">\r\n" +
		"<base href='" + outside.URL + "/base/'><script>fetch('" + outside.URL + "/script')</script>\r\n" +
		"<script src='" + outside.URL + "/src.js'></script><img src='" + outside.URL + "/image.png'>\r\n" +
		"<img src=x onerror=\"fetch('" + outside.URL + "/onerror')\"><link rel=stylesheet href='" + outside.URL + "/style.css'>\r\n" +
		"<style>body{background:url(" + outside.URL + "/css-image)}</style><iframe src='" + outside.URL + "/frame'></iframe>\r\n" +
		"<iframe srcdoc=\"<script>parent.location='" + outside.URL + "/srcdoc'</script>\"></iframe><object data='" + outside.URL + "/object'></object>\r\n" +
		"<svg onload=\"fetch('" + outside.URL + "/svg')\"></svg>\r\n" +
		"<a style='position:fixed;inset:0 0 auto;height:100px' href=\"javascript:fetch('" + outside.URL + "/link')\">link</a>\r\n" +
		"<form action='" + outside.URL + "/form'><button style='position:fixed;top:100px;left:0;width:100%;height:100px'>go</button></form></body></html>\r\n"
	i := startInbox(t, Config{})
	i.mustSend("Content-Type: text/html\r\n\r\n" + hostile)
	ctx := open(t, i.web+"/messages/1")
	top := eval[float64](t, ctx, `document.querySelector("iframe").getBoundingClientRect().top`)
	require.Equal(t, "null", eval[string](t, ctx, `String(document.querySelector("iframe").contentDocument)`), "another origin")
	require.NoError(t, chromedp.Do(ctx, chromedp.MouseClickXY(400, top+50), chromedp.MouseClickXY(400, top+150)))
	require.Equal(t, i.web+"/messages/1", eval[string](t, ctx, "location.href"))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(i.web+"/messages/1/html"), chromedp.MouseClickXY(400, 50), chromedp.MouseClickXY(400, 150)))
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(outside.URL+"/proof")))
	require.Equal(t, "/proof", <-called, "the message reached the outside")
	require.Empty(t, called)

	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(hostile))
	}))
	t.Cleanup(control.Close)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(control.URL)))
	seen := map[string]bool{}
	require.Eventually(t, func() bool {
		for len(called) > 0 {
			seen[<-called] = true
		}
		return seen["/script"] && seen["/image.png"] && seen["/style.css"] && seen["/frame"]
	}, 20*time.Second, 20*time.Millisecond, "the message is not hostile at all")
}

func TestBrowser_LinksOfAMessageOpenElsewhere(t *testing.T) {
	t.Parallel()
	called := make(chan string, 100)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { called <- r.URL.Path }))
	t.Cleanup(shop.Close)
	i := startInbox(t, Config{})
	i.mustSend("Content-Type: text/html\r\n\r\n<a style='position:fixed;inset:0 0 auto;height:100px' href='" + shop.URL + "/orders/1'>Your order</a>\r\n")
	ctx := open(t, i.web+"/messages/1")
	top := eval[float64](t, ctx, `document.querySelector("iframe").getBoundingClientRect().top`)
	require.NoError(t, chromedp.Do(ctx, chromedp.MouseClickXY(400, top+50)))
	select {
	case path := <-called:
		require.Equal(t, "/orders/1", path)
	case <-time.After(20 * time.Second):
		t.Fatal("the link does not open")
	}
	require.Equal(t, i.web+"/messages/1", eval[string](t, ctx, "location.href"))
}

// TestBrowser_FitsAnyWidth also leaves pictures in $MAILSIM_PICTURES for people.
func TestBrowser_FitsAnyWidth(t *testing.T) {
	t.Parallel()
	i := startInbox(t, Config{})
	i.arm(`{"kind":"tempfail","count":2,"match":"nobody@"}`)
	long := "a-very-long-address-that-goes-on-and-on@subdomain.of.a.long.domain.example"
	i.mustSend(mail("A subject that needs more than one line on a phone, and quite possibly on a tablet as well", "b66f0dbe0b1f6f6d7b1c3a5d1c3a5d1c3a5d1c3a5d1c3a5d1c3a5d1c3a5d@x"), long)
	i.mustSend("From: Once <shop@once.example>\r\nSubject: Your receipt for order 1042\r\nMessage-ID: <receipt.3f9a@once.example>\r\nContent-Type: text/html\r\n\r\n" +
		"<meta name=color-scheme content='light dark'><body style='font-family:sans-serif;padding:24px'><h1>Thank you, Ada</h1><p>Order 1042 is paid.<p><a href='http://x.example/'>Your order</a>\r\n")
	i.mustSend(mail("Twice", "t@x"))
	i.mustSend(mail("Twice", "t@x"))
	ctx := open(t, i.web+"/")
	for _, page := range []struct{ name, path string }{
		{"list", "/"}, {"html", "/messages/2"}, {"headers", "/messages/3?view=headers"}, {"text", "/messages/1"}, {"none", "/?q=nobody"}, {"problem", "/nowhere"},
	} {
		for _, scheme := range []string{"light", "dark"} {
			media := func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				return chromedp.Void{}, err
			}
			for _, width := range []int64{320, 390, 768, 1280} {
				require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 844), media, chromedp.Navigate(i.web+page.path)))
				require.LessOrEqual(t, eval[int](t, ctx, "document.documentElement.scrollWidth"), int(width), "%s at %d", page.name, width)
				if dir := os.Getenv("MAILSIM_PICTURES"); dir != "" {
					picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(dir, page.name+"-"+strconv.Itoa(int(width))+"-"+scheme+".png"), picture, 0o644))
				}
			}
		}
	}
}
