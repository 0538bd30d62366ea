package templates

import "github.com/a-h/templ"

// Story is one page in one state, drawn with canned data.
type Story struct {
	Name      string // lower-case words, unique within the group
	Group     string
	Component templ.Component
}

// Slug is the story's name in an address: "order-card-declined".
func (s Story) Slug() string { return slug(s.Group + " " + s.Name) }

// StoryLink is an entry on the page that lists the stories.
type StoryLink struct{ Group, Name, URL string }

// Stories lists every page in every state.
func Stories() []Story {
	var all []Story
	all = append(all, shopStories()...)
	all = append(all, orderStories()...)
	all = append(all, errorStories()...)
	all = append(all, adminStories()...)
	return append(all, receiptStories()...)
}

// StoryLinks are the entries for StoriesPage when each story is served at
// prefix + its slug, such as "/dev/stories/" + "order-paid".
func StoryLinks(prefix string) []StoryLink {
	var links []StoryLink
	for _, s := range Stories() {
		links = append(links, StoryLink{Group: s.Group, Name: s.Name, URL: prefix + s.Slug()})
	}
	return links
}

type storyGroup struct {
	Name    string
	Stories []StoryLink
}

// groupStories puts neighbours of one group together, in the order given.
func groupStories(links []StoryLink) []storyGroup {
	var groups []storyGroup
	for _, l := range links {
		if n := len(groups); n == 0 || groups[n-1].Name != l.Group {
			groups = append(groups, storyGroup{Name: l.Group})
		}
		last := &groups[len(groups)-1]
		last.Stories = append(last.Stories, l)
	}
	return groups
}

// slug keeps letters and digits, lower-case, with single dashes between.
func slug(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out = append(out, r)
		case r >= 'A' && r <= 'Z':
			out = append(out, r+'a'-'A')
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	return string(out)
}
