package orders_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"shop/internal/apperr"
	"shop/internal/database/dbtest"
	"shop/internal/orders"
)

var payment = json.RawMessage(`{"payment_method":"pm_card_visa"}`)

func newStore(t *testing.T, currency string) (*orders.Store, *pgxpool.Pool) {
	t.Helper()
	pool := dbtest.New(t)
	s := orders.NewStore(pool)
	require.NoError(t, s.Seed(context.Background(), currency))
	return s, pool
}

// counts tells whether anything was written.
func counts(t *testing.T, pool *pgxpool.Pool) (n [3]int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(context.Background(), `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM order_lines),
		(SELECT count(*) FROM outbox_messages)`).Scan(&n[0], &n[1], &n[2]))
	return n
}

// filledCart returns a cart with two mugs and a pen, and a checkout that fits it.
func filledCart(t *testing.T, s *orders.Store) (orders.Cart, orders.Checkout) {
	t.Helper()
	ctx := context.Background()
	id, err := s.AddToCart(ctx, "", "enamel-mug", 2)
	require.NoError(t, err)
	_, err = s.AddToCart(ctx, id, "fountain-pen", 1)
	require.NoError(t, err)
	cart, err := s.GetCart(ctx, id)
	require.NoError(t, err)
	return cart, orders.Checkout{CartID: id, CheckoutToken: cart.CheckoutToken, Buyer: orders.Buyer{Email: "ada@example.com", Name: "Ada"},
		Shown: cart.Total.Amount, Payment: payment}
}

func TestPlacingCommitsOrderLinesAndMessageTogether(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	cart, checkout := filledCart(t, s)
	order, repeat, err := s.Place(ctx, checkout)
	require.NoError(t, err)
	require.False(t, repeat)
	require.Equal(t, int64(2*1800+6400), order.Total.Amount)
	require.Equal(t, [3]int{1, 2, 1}, counts(t, pool))
	var topic, subject string
	var payload []byte
	require.NoError(t, pool.QueryRow(ctx, `SELECT topic, subject_id, payload FROM outbox_messages`).Scan(&topic, &subject, &payload))
	require.Equal(t, "order.placed", topic)
	require.Equal(t, fmt.Sprint(order.ID), subject)
	require.JSONEq(t, fmt.Sprintf(`{"order_id":%d,"public_id":%q,"amount":10000,"currency":"usd","payment":{"payment_method":"pm_card_visa"}}`,
		order.ID, order.PublicID), string(payload))
	after, err := s.GetCart(ctx, cart.ID)
	require.NoError(t, err)
	require.Empty(t, after.Lines)
	require.NotEqual(t, cart.CheckoutToken, after.CheckoutToken)

	// Prices change; what was agreed does not.
	_, err = pool.Exec(ctx, `UPDATE products SET price = price * 2, name = 'another'`)
	require.NoError(t, err)
	again, err := s.Order(ctx, order.PublicID)
	require.NoError(t, err)
	require.Equal(t, order.Total, again.Total)
	require.Equal(t, "Enamel mug", again.Lines[0].Name)
	require.Equal(t, int64(3600), again.Lines[0].Total.Amount)
}

// docs/peers.md rows 53 and 54: one checkout token, one order, however often and
// however fast it is sent.
func TestRow53_OneTokenMeetsOneOrder(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	_, checkout := filledCart(t, s)
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			order, _, err := s.Place(ctx, checkout)
			if err != nil {
				t.Errorf("placing: %v", err)
			}
			ids[i] = order.PublicID
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Equal(t, [3]int{1, 2, 1}, counts(t, pool))

	// Much later, with other things in the cart, the old form still means the old order.
	_, err := s.AddToCart(ctx, checkout.CartID, "moka-pot", 1)
	require.NoError(t, err)
	order, repeat, err := s.Place(ctx, checkout)
	require.NoError(t, err)
	require.True(t, repeat)
	require.Equal(t, ids[0], order.PublicID)
	require.Equal(t, [3]int{1, 2, 1}, counts(t, pool))
}

func TestWhatCannotBeOrderedChangesNothing(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	for name, c := range map[string]struct {
		change func(*orders.Checkout)
		kind   apperr.Kind
	}{
		"a tampered total":        {func(c *orders.Checkout) { c.Shown = 1 }, apperr.Conflict},
		"a token of nobody":       {func(c *orders.Checkout) { c.CheckoutToken = "made-up" }, apperr.Conflict},
		"no token":                {func(c *orders.Checkout) { c.CheckoutToken = "" }, apperr.Conflict},
		"another cart":            {func(c *orders.Checkout) { c.CartID = "aaaaaaaaaaaaaaaaaaaaaaaaaa" }, apperr.Conflict},
		"no e-mail":               {func(c *orders.Checkout) { c.Buyer.Email = " " }, apperr.Invalid},
		"e-mail without a domain": {func(c *orders.Checkout) { c.Buyer.Email = "ada@" }, apperr.Invalid},
		"e-mail without an @":     {func(c *orders.Checkout) { c.Buyer.Email = "ada" }, apperr.Invalid},
		"a host is no domain":     {func(c *orders.Checkout) { c.Buyer.Email = "ada@localhost" }, apperr.Invalid},
		"a header in the e-mail":  {func(c *orders.Checkout) { c.Buyer.Email = "ada@example.com\r\nBcc: eve@example.com" }, apperr.Invalid},
		"two addresses":           {func(c *orders.Checkout) { c.Buyer.Email = "ada@example.com,eve@example.com" }, apperr.Invalid},
		"an address with a name":  {func(c *orders.Checkout) { c.Buyer.Email = "Ada <ada@example.com>" }, apperr.Invalid},
		"a long e-mail":           {func(c *orders.Checkout) { c.Buyer.Email = strings.Repeat("a", 300) + "@example.com" }, apperr.Invalid},
		"no name":                 {func(c *orders.Checkout) { c.Buyer.Name = "\u00a0 " }, apperr.Invalid},
		"a long name":             {func(c *orders.Checkout) { c.Buyer.Name = strings.Repeat("é", 201) }, apperr.Invalid},
		"a line break in a name":  {func(c *orders.Checkout) { c.Buyer.Name = "Ada\nBcc: x" }, apperr.Invalid},
		"a name that is no UTF-8": {func(c *orders.Checkout) { c.Buyer.Name = "caf\xe9" }, apperr.Invalid},
	} {
		cart, checkout := filledCart(t, s)
		before := counts(t, pool)
		c.change(&checkout)
		_, _, err := s.Place(ctx, checkout)
		require.Error(t, err, name)
		require.Equal(t, c.kind, apperr.KindOf(err), "%s: %v", name, err)
		require.Equal(t, before, counts(t, pool), name)
		after, err := s.GetCart(ctx, cart.ID)
		require.NoError(t, err)
		require.Equal(t, cart, after, "%s: the cart is kept", name)
	}
}

func TestNamesInAnyScriptAreKept(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, "usd")
	for i, name := range []string{"Ada Lovelace", "李小龍", "محمد بن سلمان", "Зоя Космодемьянская", "👩‍🚀 José Ñandú", "O'Brien <b>&amp;", strings.Repeat("é", 200)} {
		_, checkout := filledCart(t, s)
		checkout.Buyer = orders.Buyer{Name: "  " + name + " ", Email: fmt.Sprintf("a%d@bücher.example", i)}
		order, _, err := s.Place(context.Background(), checkout)
		require.NoError(t, err)
		got, err := s.Order(context.Background(), order.PublicID)
		require.NoError(t, err)
		require.Equal(t, name, got.Name)
		require.Equal(t, fmt.Sprintf("a%d@xn--bcher-kva.example", i), got.Email)
	}
}

func TestCartRules(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, "usd")
	ctx := context.Background()
	for _, quantity := range []int{0, -1, 21, 1_000_000_000} {
		_, err := s.AddToCart(ctx, "", "enamel-mug", quantity)
		require.Equal(t, apperr.Invalid, apperr.KindOf(err), quantity)
	}
	_, err := s.AddToCart(ctx, "", "no-such-thing", 1)
	require.Equal(t, apperr.NotFound, apperr.KindOf(err))
	id, err := s.AddToCart(ctx, "", "enamel-mug", 15)
	require.NoError(t, err)
	_, err = s.AddToCart(ctx, id, "enamel-mug", 6)
	require.Equal(t, apperr.Invalid, apperr.KindOf(err), "21 in two steps")
	require.NoError(t, s.SetCartQuantity(ctx, id, "enamel-mug", 20))
	require.Equal(t, apperr.NotFound, apperr.KindOf(s.SetCartQuantity(ctx, id, "moka-pot", 1)))
	cart, err := s.GetCart(ctx, id)
	require.NoError(t, err)
	require.Equal(t, 20, cart.Pieces())
	require.NoError(t, s.SetCartQuantity(ctx, id, "enamel-mug", 0))
	cart, err = s.GetCart(ctx, id)
	require.NoError(t, err)
	require.Empty(t, cart.Lines)
	_, _, err = s.Place(ctx, orders.Checkout{CartID: id, CheckoutToken: cart.CheckoutToken, Buyer: orders.Buyer{Email: "a@b.example", Name: "A"}})
	require.Equal(t, apperr.Conflict, apperr.KindOf(err), "an empty cart")
}

// docs/peers.md row 104: ¥500 was charged as 50,000.
func TestRow104_AYenStoreCountsWholeYen(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, "jpy")
	_, checkout := filledCart(t, s)
	order, _, err := s.Place(context.Background(), checkout)
	require.NoError(t, err)
	require.Equal(t, "¥10,000", order.Total.Format())
	require.Equal(t, int64(10_000), order.Total.Amount)
	require.Equal(t, "jpy", order.Total.Currency)
}

func TestSeedingAgainChangesOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	var before, after string
	const rows = `SELECT string_agg(xmin::text, ',' ORDER BY sku) FROM products`
	require.NoError(t, pool.QueryRow(ctx, rows).Scan(&before))
	require.NoError(t, s.Seed(ctx, "usd"))
	require.NoError(t, pool.QueryRow(ctx, rows).Scan(&after))
	require.Equal(t, before, after)
	products, err := s.Products(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(products), 8)
	require.ErrorContains(t, s.Seed(ctx, "zzz"), "zzz")
}

func TestAProgramsOrderIsCheckedLikeAPersons(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	good := orders.Request{Buyer: orders.Buyer{Email: "ada@example.com", Name: "Ada"}, Payment: payment,
		Lines: []orders.RequestLine{{SKU: "enamel-mug", Quantity: 2}}}
	for name, lines := range map[string][]orders.RequestLine{
		"none":        nil,
		"zero":        {{SKU: "enamel-mug", Quantity: 0}},
		"too many":    {{SKU: "enamel-mug", Quantity: 1_000_000_000}},
		"unknown":     {{SKU: "no-such-thing", Quantity: 1}},
		"twice":       {{SKU: "enamel-mug", Quantity: 1}, {SKU: "enamel-mug", Quantity: 1}},
		"101 of them": make([]orders.RequestLine, 101),
	} {
		bad := good
		bad.Lines = lines
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { _, err := s.PlaceRequest(ctx, tx, bad); return err })
		require.Equal(t, apperr.Invalid, apperr.KindOf(err), "%s: %v", name, err)
	}
	require.Equal(t, [3]int{}, counts(t, pool))
	require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { _, err := s.PlaceRequest(ctx, tx, good); return err }))
	require.Equal(t, [3]int{1, 1, 1}, counts(t, pool))
}

// docs/peers.md rows 32 and 34: a late failure takes nothing back from a paid order.
func TestRow32_APaidOrderStaysPaid(t *testing.T) {
	t.Parallel()
	s, pool := newStore(t, "usd")
	ctx := context.Background()
	_, checkout := filledCart(t, s)
	order, _, err := s.Place(ctx, checkout)
	require.NoError(t, err)
	in := func(f func(pgx.Tx) error) error { return pgx.BeginFunc(ctx, pool, f) }
	require.NoError(t, in(func(tx pgx.Tx) error { return s.MarkPaid(ctx, tx, order.ID) }))
	require.NoError(t, in(func(tx pgx.Tx) error { return s.MarkPaymentFailed(ctx, tx, order.ID, "late") }))
	require.NoError(t, in(func(tx pgx.Tx) error {
		reopened, err := s.Reopen(ctx, tx, order.ID)
		require.False(t, reopened)
		return err
	}))
	require.Error(t, in(func(tx pgx.Tx) error { return s.MarkPaid(ctx, tx, order.ID) }), "a second payment is not booked")
	got, err := s.Order(ctx, order.PublicID)
	require.NoError(t, err)
	require.Equal(t, orders.Paid, got.State)
	require.Empty(t, got.Reason)
	var topics []string
	require.NoError(t, pool.QueryRow(ctx, `SELECT array_agg(topic ORDER BY id) FROM outbox_messages`).Scan(&topics))
	require.Equal(t, []string{"order.placed", "order.paid"}, topics)
}
