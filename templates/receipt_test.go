package templates

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func storyReceipt() ReceiptView {
	return ReceiptView{
		Number: "1042", PublicID: "ord_01jdy3m2q8", Name: "Ada Lovelace", PaidAt: storyNow, Lines: storyLines(),
		Total: storyTotal(), OrderURL: "http://localhost:8080/orders/ord_01jdy3m2q8", Demo: true,
	}
}

const wantReceipt = `ONCE

Hello Ada Lovelace.

Paid, thank you. This is the receipt for order 1042,
paid on 30 November 2026, 18:53 UTC.

----------------------------------------------------------------
1 x Steel scissors                                        $48.00
2 x Enamel mug                                            $48.00
    $24.00 each
1 x Brass lamp                                           $189.00
----------------------------------------------------------------
Total                                                    $285.00

Your order: http://localhost:8080/orders/ord_01jdy3m2q8
Order id:   ord_01jdy3m2q8

Demo shop: no real money moved.
`

func TestReceiptText_IsAligned(t *testing.T) {
	t.Parallel()
	require.Equal(t, wantReceipt, ReceiptText(storyReceipt()))
}

func TestReceiptText_InYenHasNoDecimals(t *testing.T) {
	t.Parallel()
	v := storyReceipt()
	v.Lines, v.Total = yenLines(), jpy(14400)
	text := ReceiptText(v)
	require.Contains(t, text, "¥14,400\n")
	require.NotContains(t, text, ".00")
	for _, row := range rowsWith(text, "¥14,400") {
		require.Equal(t, textWidth, utf8.RuneCountInString(row), "counted in characters, not bytes")
	}
}

func TestReceiptText_BreaksLongNamesAndKeepsTheColumn(t *testing.T) {
	t.Parallel()
	v := storyReceipt()
	v.Lines = []LineView{{Name: strings.Repeat("word ", 30) + strings.Repeat("W", 90), Quantity: 1, UnitPrice: usd(100), Total: usd(100)}}
	v.Name = "Eve\n\nTotal  $0.00"
	text := ReceiptText(v)
	for row := range strings.SplitSeq(text, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(row), textWidth, row)
	}
	require.Len(t, rowsWith(text, "$1.00"), 1)
	require.Contains(t, text, "Hello Eve Total $0.00.\n", "a name cannot write lines of its own")
}

func TestReceiptText_GreetsNobodyByNoName(t *testing.T) {
	t.Parallel()
	v := storyReceipt()
	v.Name, v.Demo = "", false
	text := ReceiptText(v)
	require.Contains(t, text, "Hello.\n")
	require.NotContains(t, text, "Demo")
}

func TestReceiptSubject_NamesOrderAndTotal(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Once: receipt for order 1042, $285.00", ReceiptSubject(storyReceipt()))
}

func TestReceiptHTML_SaysWhatTheTextSays(t *testing.T) {
	t.Parallel()
	doc := page(t, ReceiptEmailHTML(storyReceipt()))
	text := strings.Join(strings.Fields(doc.Find("body").Text()), " ")
	for _, want := range []string{"Hello Ada Lovelace.", "order 1042", "30 November 2026, 18:53 UTC", "2 × $24.00", "$189.00", "Total$285.00", "no real money moved"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, "http://localhost:8080/orders/ord_01jdy3m2q8", attr(t, doc, "a", "href"))
	require.Contains(t, doc.Find("style").Text(), "prefers-color-scheme: dark")
}

func rowsWith(text, part string) []string {
	var rows []string
	for row := range strings.SplitSeq(text, "\n") {
		if strings.Contains(row, part) {
			rows = append(rows, row)
		}
	}
	return rows
}
