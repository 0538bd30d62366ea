package stripesim

import "strings"

// Customer as API 2023-10-16 shows it.
type Customer struct {
	ID                  string            `json:"id"`
	Object              string            `json:"object"`
	Address             *address          `json:"address"`
	Balance             int64             `json:"balance"`
	Created             int64             `json:"created"`
	Currency            *string           `json:"currency"`
	DefaultSource       *string           `json:"default_source"`
	Delinquent          bool              `json:"delinquent"`
	Description         *string           `json:"description"`
	Discount            *struct{}         `json:"discount"`
	Email               *string           `json:"email"`
	InvoicePrefix       string            `json:"invoice_prefix"`
	InvoiceSettings     invoiceSettings   `json:"invoice_settings"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	Name                *string           `json:"name"`
	NextInvoiceSequence int64             `json:"next_invoice_sequence"`
	Phone               *string           `json:"phone"`
	PreferredLocales    []string          `json:"preferred_locales"`
	Shipping            *shipping         `json:"shipping"`
	TaxExempt           string            `json:"tax_exempt"`
	TestClock           *string           `json:"test_clock"`
}

type invoiceSettings struct {
	CustomFields         *struct{} `json:"custom_fields"`
	DefaultPaymentMethod *string   `json:"default_payment_method"`
	Footer               *string   `json:"footer"`
	RenderingOptions     *struct{} `json:"rendering_options"`
}

// deletedObject is what is left to see of a deleted object.
type deletedObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

type customer struct {
	Customer
	Sim customerSim `json:"_sim"`
}

type customerSim struct {
	Deleted bool `json:"deleted,omitempty"`
}

func (u *customer) id() string   { return u.ID }
func (u *customer) born() int64  { return u.Created }
func (u *customer) kind() string { return kindCustomer }

func (u *customer) wire() any {
	if u.Sim.Deleted {
		return &deletedObject{ID: u.ID, Object: "customer", Deleted: true}
	}
	return &u.Customer
}

var customerSchema = accepts("address[*]", "description", "email", "metadata[*]", "name", "phone", "shipping[*]",
	"payment_method", "invoice_settings[default_payment_method]", "preferred_locales[]", "tax_exempt")

// liveCustomer finds a customer that was not deleted.
func (c *call) liveCustomer(id string) *customer {
	if u := c.acct.customers.get(id); u != nil && !u.Sim.Deleted {
		return u
	}
	return nil
}

func (c *call) createCustomer() (any, *apiError) {
	id := c.srv.ids.id("cus_", 14)
	u := &customer{Customer: Customer{ID: id, Object: "customer", Created: c.now, InvoicePrefix: strings.ToUpper(id[4:12]),
		NextInvoiceSequence: 1, PreferredLocales: []string{}, TaxExempt: "none"}}
	if err := c.fillCustomer(u); err != nil {
		return nil, err
	}
	if name := c.reader.str("payment_method"); name != "" {
		m, err := c.methodByName(name, "payment_method")
		if err == nil {
			_, err = c.attach(m, u.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	c.put(u)
	c.emit("customer.created", u)
	return &u.Customer, nil
}

func (c *call) updateCustomer() (any, *apiError) {
	stored := c.liveCustomer(c.id)
	if stored == nil {
		return nil, noSuch("customer", c.id)
	}
	next := *stored
	if err := c.fillCustomer(&next); err != nil {
		return nil, err
	}
	c.put(&next)
	c.emit("customer.updated", &next)
	return &next.Customer, nil
}

func (c *call) fillCustomer(u *customer) *apiError {
	r := &c.reader
	r.set("description", 5000, &u.Description)
	r.set("email", 512, &u.Email)
	r.set("name", 256, &u.Name)
	r.set("phone", 20, &u.Phone)
	if r.p.has("address") {
		a := r.readAddress("address")
		u.Address = &a
	}
	if r.p.has("shipping") {
		u.Shipping = r.readShipping()
	}
	if v := r.oneOf("tax_exempt", "none", "exempt", "reverse"); v != "" {
		u.TaxExempt = v
	}
	if v := r.str("invoice_settings[default_payment_method]"); v != "" {
		m := c.acct.methods.get(v)
		if m == nil || deref(m.Customer) != u.ID {
			r.fail(noSuchParam("PaymentMethod", v, "invoice_settings[default_payment_method]"))
		}
		u.InvoiceSettings.DefaultPaymentMethod = &v
	}
	u.Metadata = r.metadata(u.Metadata)
	return r.err
}

func (c *call) listCustomers() (any, *apiError) {
	email := c.reader.str("email")
	return listOf(c, &c.acct.customers, "customer", func(u *customer) bool { return !u.Sim.Deleted && same(email, deref(u.Email)) })
}

// deleteCustomer takes a customer's payment methods along.
func (c *call) deleteCustomer() (any, *apiError) {
	stored := c.liveCustomer(c.id)
	if stored == nil {
		return nil, noSuch("customer", c.id)
	}
	for _, m := range c.acct.methods.rows {
		if deref(m.Customer) == c.id {
			c.detach(m)
		}
	}
	c.emit("customer.deleted", stored)
	next := *stored
	next.Sim.Deleted = true
	c.put(&next)
	return next.wire(), nil
}
