// Package templates draws every page of the shop, every page of the dashboard
// and the receipt mail. A page is a templ component with a view model beside
// it: plain data, filled by a handler, with no logic beyond formatting. No
// component asks a database, a clock or a provider for anything.
//
// Stories lists each page in each of its states with canned data.
package templates

// AssetURL turns the name of an asset ("app.css", "products/enamel-mug.svg")
// into the URL that a page links to. The web server replaces it at start with
// one that adds the content hash; it must not be changed once pages are served.
var AssetURL = func(name string) string { return "/assets/" + name }

// ShopName is the name on the door, in titles and in mails.
const ShopName = "Once"
