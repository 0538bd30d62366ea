package templates

import (
	"strings"
	"unicode/utf8"
)

// textWidth is how wide the text receipt is. Mail programs wrap at 72 to 78.
const textWidth = 64

// receiptGreeting addresses the buyer, or nobody when there is no name.
func receiptGreeting(v ReceiptView) string {
	if v.Name == "" {
		return "Hello."
	}
	return "Hello " + v.Name + "."
}

// ReceiptSubject is the subject of the receipt mail.
func ReceiptSubject(v ReceiptView) string {
	return ShopName + ": receipt for order " + v.Number + ", " + v.Total.Format()
}

// ReceiptText is the text part of the receipt: one line for each line of the
// order with the amounts aligned at the right, the total, and the address of
// the order's page. Lines end in "\n".
func ReceiptText(v ReceiptView) string {
	var b strings.Builder
	b.WriteString(strings.ToUpper(ShopName) + "\n\n" + oneLine(receiptGreeting(v)) + "\n\n")
	b.WriteString("Paid, thank you. This is the receipt for order " + v.Number + ",\npaid on " + exactTime(v.PaidAt) + ".\n\n")
	rule := strings.Repeat("-", textWidth) + "\n"
	b.WriteString(rule)
	for _, l := range v.Lines {
		b.WriteString(textRow(l.quantity()+" x "+oneLine(l.Name), l.Total.Format()))
		if l.Quantity > 1 {
			b.WriteString("    " + l.UnitPrice.Format() + " each\n")
		}
	}
	b.WriteString(rule)
	b.WriteString(textRow("Total", v.Total.Format()) + "\n")
	b.WriteString("Your order: " + v.OrderURL + "\n")
	b.WriteString("Order id:   " + v.PublicID + "\n")
	if v.Demo {
		b.WriteString("\nDemo shop: no real money moved.\n")
	}
	return b.String()
}

// textRow sets a label at the left and an amount at the right. A label that
// leaves no room for the amount is broken over lines, at spaces where it has
// any, and the amount stands on the last of them.
func textRow(label, amount string) string {
	room := textWidth - utf8.RuneCountInString(amount) - 2
	var b strings.Builder
	rest := []rune(label)
	for len(rest) > room {
		cut := room
		for i := room; i > room/2; i-- {
			if rest[i] == ' ' {
				cut = i
				break
			}
		}
		b.WriteString(strings.TrimRight(string(rest[:cut]), " ") + "\n")
		rest = []rune("    " + strings.TrimLeft(string(rest[cut:]), " "))
	}
	b.WriteString(string(rest) + strings.Repeat(" ", textWidth-len(rest)-utf8.RuneCountInString(amount)) + amount + "\n")
	return b.String()
}

// oneLine keeps a name from writing lines of its own into the text mail.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
