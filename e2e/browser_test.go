package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser is the one Chromium of this run. Each test has a profile of its own in it.
var browser struct {
	sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	err    error
}

// findBrowser returns a Chromium, or "" when this machine has none.
func findBrowser() string {
	for _, name := range []string{os.Getenv("SHOP_CHROME"), "chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBrowser starts the Chromium. It is let nowhere but to this machine.
func startBrowser(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1280, 900), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	browser.ctx, browser.cancel = ctx, []context.CancelFunc{cancelBrowser, cancelAllocator}
	browser.err = chromedp.Do(ctx)
}

func closeBrowser() {
	if browser.ctx != nil {
		_ = chromedp.Cancel(browser.ctx) // closes it the way a person does; killed below if it does not
	}
	for _, cancel := range browser.cancel {
		cancel()
	}
}

// tab is a page of the browser. Whatever its pages complain about, and
// whomever they call outside this machine, fails the test at its end.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	expected   []*regexp.Regexp
}

// newTab opens a tab in a profile of its own: no cookies, no cache.
func newTab(t *testing.T) *tab {
	t.Helper()
	path := findBrowser()
	if path == "" {
		const reason = "NO BROWSER: install chromium, or name one in SHOP_CHROME, to test what shoppers see"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	browser.Do(func() { startBrowser(path) })
	require.NoError(t, browser.err, "starting %s", path)
	return openTab(t, chromedp.WithNewBrowserContext())
}

// another opens a second tab beside this one, with the same cookies.
func (b *tab) another() *tab {
	b.t.Helper()
	return openTab(b.t, chromedp.WithExistingBrowserContext(chromedp.FromContext(b.ctx).BrowserContextID))
}

func openTab(t *testing.T, profile chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(browser.ctx, profile, chromedp.WithListener(b.listen))
	ctx, cancelTime := context.WithTimeout(ctx, 3*patience)
	b.ctx = ctx
	require.NoError(t, chromedp.Do(ctx), "opening a tab")
	t.Cleanup(func() {
		if t.Failed() {
			b.photograph()
		}
		for _, c := range b.problems() {
			t.Errorf("the browser complained: %s", c)
		}
		cancelTime()
		cancel()
	})
	return b
}

// listen notes errors, warnings, violations of the policy and calls to the outside.
func (b *tab) listen(ev any) {
	switch ev := ev.(type) {
	case *cdplog.EventEntryAdded:
		if ev.Entry.Level == cdplog.EntryLevelError || ev.Entry.Level == cdplog.EntryLevelWarning {
			b.note(fmt.Sprintf("%s %s: %s %s", ev.Entry.Source, ev.Entry.Level, ev.Entry.Text, ev.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		text := ev.ExceptionDetails.Text
		if ev.ExceptionDetails.Exception != nil {
			text += " " + ev.ExceptionDetails.Exception.Description
		}
		b.note("uncaught: " + text)
	case *runtime.EventConsoleAPICalled:
		if ev.Type == "error" || ev.Type == "warning" || ev.Type == "assert" {
			var said []string
			for _, a := range ev.Args {
				said = append(said, string(a.Value)+a.Description)
			}
			b.note("console " + string(ev.Type) + ": " + strings.Join(said, " "))
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(ev.Request.URL); err != nil || (u.Hostname() != "127.0.0.1" && u.Scheme != "data" && u.Scheme != "about" && u.Scheme != "blob") {
			b.note("a request leaves this machine: " + ev.Request.URL)
		}
	}
}

func (b *tab) note(complaint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint)
}

// expect says that a complaint like this is right: the browser writes a line
// for every answer above 399, for instance.
func (b *tab) expect(pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, regexp.MustCompile(pattern))
}

// problems are the complaints that nobody expected.
func (b *tab) problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []string
next:
	for _, c := range b.complaints {
		for _, e := range b.expected {
			if e.MatchString(c) {
				continue next
			}
		}
		left = append(left, c)
	}
	return left
}

// photograph keeps a picture of the page for the report of a failed test.
func (b *tab) photograph() {
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Logf("no picture of the page: %v", err)
		return
	}
	file, err := os.CreateTemp("", "shop-e2e-page-*.png")
	if err != nil {
		b.t.Logf("no picture of the page: %v", err)
		return
	}
	defer file.Close()
	_, err = file.Write(picture)
	b.t.Logf("the page at the end: %s (%v), at %s", file.Name(), err, b.eval("location.href"))
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

func (b *tab) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// click clicks with the mouse on the first element that matches.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// typeIn types into fields, given as selector and text in turn.
func (b *tab) typeIn(fields ...string) {
	b.t.Helper()
	for i := 0; i+1 < len(fields); i += 2 {
		b.do(chromedp.SendKeys(chromedp.CSS(fields[i]), fields[i+1]))
	}
}

// eval returns the value of a JavaScript expression as text; "" when it has none.
func (b *tab) eval(expression string) string {
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		return ""
	}
	return got
}

// until waits for a JavaScript expression to be true. It asks afresh each
// time, since the page may be replaced meanwhile.
func (b *tab) until(expression string) {
	b.t.Helper()
	eventually(b.t, func() bool { return b.eval("Boolean("+expression+")") == "true" }, "%s", expression)
}

// arrive waits until the address has a path that begins like this, and returns it.
func (b *tab) arrive(path string) string {
	b.t.Helper()
	b.until(fmt.Sprintf(`location.pathname.startsWith(%q) && document.readyState === "complete"`, path))
	return b.eval("location.pathname")
}

// setCookie gives the profile a cookie of the shop.
func (b *tab) setCookie(base, name, value, path string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: base + path, Path: path})
	require.NoError(b.t, err)
}

// callPage runs a command of the protocol on the page.
func callPage[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b.t, err)
	return result
}
