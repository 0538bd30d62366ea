package templates

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// render draws a story and parses it as a browser without scripts would, so
// that what stands in noscript is part of the page.
func render(t *testing.T, s Story) (string, *goquery.Document) {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, s.Component.Render(context.Background(), &page))
	return page.String(), parse(t, page.String())
}

func parse(t *testing.T, page string) *goquery.Document {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	require.NoError(t, err)
	return goquery.NewDocumentFromNode(root)
}

func eachStory(t *testing.T, check func(t *testing.T, s Story, page string, doc *goquery.Document)) {
	t.Helper()
	for _, s := range Stories() {
		t.Run(s.Slug(), func(t *testing.T) {
			t.Parallel()
			page, doc := render(t, s)
			check(t, s, page, doc)
		})
	}
}

func isMail(s Story) bool { return s.Group == "Receipt mail" }

func TestStories_AreNamedOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Stories() {
		require.NotEmpty(t, s.Name)
		require.Falsef(t, seen[s.Slug()], "two stories are called %s", s.Slug())
		seen[s.Slug()] = true
	}
	links := StoryLinks("/dev/stories/")
	require.Len(t, links, len(seen))
	require.Equal(t, "/dev/stories/catalogue-all-products", links[0].URL)
}

func TestStories_HaveOneHeadingTitleAndLandmarks(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, s Story, page string, doc *goquery.Document) {
		require.True(t, strings.HasPrefix(page, "<!doctype html>"), "begins with %.40q", page)
		require.Equal(t, 1, doc.Find("h1").Length(), "level-one headings")
		require.NotEmpty(t, strings.TrimSpace(doc.Find("title").Text()))
		require.Equal(t, "en", doc.Find("html").AttrOr("lang", ""))
		require.Equal(t, 1, doc.Find(`meta[name="viewport"]`).Length())
		require.Equal(t, "light dark", doc.Find(`meta[name="color-scheme"]`).AttrOr("content", ""))
		if isMail(s) {
			return
		}
		require.Equal(t, 1, doc.Find("main#main").Length())
		require.Equal(t, "#main", doc.Find("body > a.skip").AttrOr("href", ""))
		require.Equal(t, 1, doc.Find("body > header").Length())
		require.Equal(t, 1, doc.Find("body > footer").Length())
	})
}

func TestStories_LabelEveryControl(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ Story, _ string, doc *goquery.Document) {
		doc.Find("input, select, textarea").Each(func(_ int, in *goquery.Selection) {
			if in.AttrOr("type", "") == "hidden" || in.Closest("label").Length() == 1 {
				return
			}
			id := in.AttrOr("id", "")
			require.NotEmpty(t, id, "a field without a label around it needs an id")
			label := doc.Find("label").FilterFunction(func(_ int, l *goquery.Selection) bool { return l.AttrOr("for", "") == id })
			require.Equalf(t, 1, label.Length(), "labels of %s", id)
		})
		doc.Find("button, a").Each(func(_ int, b *goquery.Selection) {
			named := strings.TrimSpace(b.Text()) != "" || b.AttrOr("aria-label", "") != "" || b.AttrOr("aria-hidden", "") == "true"
			require.Truef(t, named, "a %s says nothing", goquery.NodeName(b))
		})
	})
}

func TestStories_PointOnlyAtIDsThatExist(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ Story, _ string, doc *goquery.Document) {
		ids := map[string]bool{}
		doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id := e.AttrOr("id", "")
			require.Falsef(t, ids[id], "the id %s is used twice", id)
			ids[id] = true
		})
		for _, name := range []string{"aria-labelledby", "aria-describedby"} {
			doc.Find("[" + name + "]").Each(func(_ int, e *goquery.Selection) {
				require.Truef(t, ids[e.AttrOr(name, "")], "%s=%q leads nowhere", name, e.AttrOr(name, ""))
			})
		}
		doc.Find(`a[href^="#"]`).Each(func(_ int, e *goquery.Selection) {
			require.Truef(t, ids[strings.TrimPrefix(e.AttrOr("href", ""), "#")], "link %s leads nowhere", e.AttrOr("href", ""))
		})
	})
}

// The pages are served under a policy that runs no inline script or style; one
// that slipped in would be dead in the browser.
func TestStories_HoldNoInlineStyleOrScript(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, s Story, _ string, doc *goquery.Document) {
		if isMail(s) {
			require.Zero(t, doc.Find("script, img, link").Length(), "a mail loads nothing from elsewhere")
			return
		}
		require.Zero(t, doc.Find("style").Length(), "style elements")
		doc.Find("script").Each(func(_ int, script *goquery.Selection) {
			require.NotEmpty(t, script.AttrOr("src", ""))
			require.Empty(t, script.Text())
		})
		for _, e := range doc.Find("*").Nodes {
			for _, a := range e.Attr {
				require.NotEqual(t, "style", a.Key)
				require.Falsef(t, strings.HasPrefix(a.Key, "on"), "handler %s on %s", a.Key, e.Data)
				require.Falsef(t, strings.HasPrefix(strings.ToLower(a.Val), "javascript:"), "%s=%s", a.Key, a.Val)
			}
		}
	})
}

func TestStories_GiveEveryPictureAnAlternative(t *testing.T) {
	t.Parallel()
	eachStory(t, func(t *testing.T, _ Story, _ string, doc *goquery.Document) {
		doc.Find("img").Each(func(_ int, img *goquery.Selection) {
			_, has := img.Attr("alt")
			require.True(t, has, "alt is missing")
			require.NotEmpty(t, img.AttrOr("width", ""), "without a size the page jumps while it loads")
		})
	})
}

// What people type is text, wherever it stands.
func TestStories_EscapeHostileText(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range Stories() {
		page, doc := render(t, s)
		if strings.Contains(page, "alert(1)") {
			found++
			require.NotContainsf(t, page, "<script>alert", "in %s", s.Slug())
			require.Zero(t, doc.Find("[onload]").Length(), "in %s", s.Slug())
		}
	}
	require.GreaterOrEqual(t, found, 8, "pages that show the hostile name")
}
