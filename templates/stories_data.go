package templates

import (
	"strings"
	"time"

	"shop/internal/money"
)

// storyNow is the moment at which all stories are told.
var storyNow = time.Date(2026, time.November, 30, 18, 53, 0, 0, time.UTC)

func usd(amount int64) money.Money { return money.Money{Amount: amount, Currency: "usd"} }

func jpy(amount int64) money.Money { return money.Money{Amount: amount, Currency: "jpy"} }

// storyProducts are the goods of the demo's catalogue.
func storyProducts() []ProductView {
	p := func(sku, name, summary string, cents int64) ProductView {
		return ProductView{
			SKU: sku, Name: name, Summary: summary, Image: "products/" + sku + ".svg", Price: usd(cents),
			Description: []string{
				"Made by people who make little else, from material that gets better with use. It can be taken apart, and every part can be had.",
				"There is one version of it. If it ever fails under fair use, we mend it.",
			},
			Facts: []Fact{{"Made in", "Portugal"}, {"Care", "Dry after washing"}, {"Mended", "For life"}},
		}
	}
	return []ProductView{
		p("brass-lamp", "Brass lamp", "Throws a warm pool of light and never wobbles.", 18900),
		p("cast-iron-pan", "Cast-iron pan", "Seasoned in linseed oil, smooth as slate.", 6400),
		p("fountain-pen", "Fountain pen", "A steel nib that learns your hand.", 9200),
		p("wool-blanket", "Wool blanket", "Undyed wool, woven in one piece.", 14500),
		p("enamel-mug", "Enamel mug", "Two coats, one rim, no plastic.", 2400),
		p("oak-stool", "Oak stool", "Three legs, so it stands on any floor.", 12800),
		p("leather-notebook", "Leather notebook", "Refill the paper, keep the cover.", 5600),
		p("steel-scissors", "Steel scissors", "Forged, and sharpened for the asking.", 4800),
		p("linen-apron", "Linen apron", "Heavy linen with one deep pocket.", 5200),
		p("moka-pot", "Moka pot", "Six cups, one gasket, no buttons.", 3900),
		p("pocket-knife", "Pocket knife", "A blade, a handle, and a pin to hold them.", 7400),
		p("wall-clock", "Wall clock", "Tells the time and nothing else.", 11000),
	}
}

// storyLine is a line of an order for one of the demo's products.
func storyLine(sku string, quantity int) LineView {
	for _, p := range storyProducts() {
		if p.SKU == sku {
			return LineView{
				SKU: p.SKU, Name: p.Name, Image: p.Image, Quantity: quantity,
				UnitPrice: p.Price, Total: usd(p.Price.Amount * int64(quantity)),
			}
		}
	}
	panic("stories: no product " + sku)
}

func storyLines() []LineView {
	return []LineView{storyLine("steel-scissors", 1), storyLine("enamel-mug", 2), storyLine("brass-lamp", 1)}
}

func storyTotal() money.Money { return usd(4800 + 2*2400 + 18900) }

func storyShell() Shell { return Shell{CartCount: 4, Demo: true} }

func storyCard(amount money.Money) CardView {
	return CardView{
		StripeJS: "/_sim/js/v3/", PublishableKey: "pk_test_story", ReturnURL: "http://localhost/orders/ord_story",
		Amount: amount, Name: "Ada Lovelace", Email: "ada@example.com", TestCards: DemoTestCards(),
	}
}

// hostileName is markup, a quotation, right-to-left text, an override, emoji
// and a word without an end, all in one name.
func hostileName() string {
	return `<script>alert(1)</script>" onload="x" مقلاة من الحديد ` + "\u202e" + `🍳👩🏽‍🚀 ` + strings.Repeat("W", 120)
}
