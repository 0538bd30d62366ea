package templates

// Shell is what the frame around every page of the shop shows. Each view model
// of the shop embeds it.
type Shell struct {
	CartCount int  // pieces in the cart, shown in the header
	Demo      bool // tells in the footer that no real money moves
}

// head is what a page puts into the document's head. Components fill it from
// their view model; handlers never see it.
type head struct {
	Title       string
	Description string
	StripeJS    string   // script of the card form; empty when the page takes no card
	Scripts     []string // names of own assets, loaded with defer
	Refresh     bool     // reload every two seconds where scripts do not run
}

// NoticeKind says how serious a Notice is.
type NoticeKind string

// The kinds of notice, from calm to serious.
const (
	NoticeInfo   NoticeKind = "info"
	NoticeOK     NoticeKind = "ok"
	NoticeWarn   NoticeKind = "warn"
	NoticeDanger NoticeKind = "danger"
)

// Notice is a message within a page: what happened and what to do. The zero
// value shows nothing.
type Notice struct {
	Kind  NoticeKind
	Title string
	Text  string
}

// Empty reports whether there is nothing to show.
func (n Notice) Empty() bool { return n.Title == "" && n.Text == "" }

// role makes assistive technology speak a serious notice at once and a calm
// one when it is idle.
func (n Notice) role() string {
	if n.Kind == NoticeDanger {
		return "alert"
	}
	return "status"
}
