package stripesim

// SetupIntent as API 2023-10-16 shows it: saving a card without a payment.
type SetupIntent struct {
	ID                      string            `json:"id"`
	Object                  string            `json:"object"`
	Application             *string           `json:"application"`
	AutomaticPaymentMethods *automaticMethods `json:"automatic_payment_methods"`
	CancellationReason      *string           `json:"cancellation_reason"`
	ClientSecret            string            `json:"client_secret"`
	Created                 int64             `json:"created"`
	Customer                *string           `json:"customer"`
	Description             *string           `json:"description"`
	FlowDirections          *[]string         `json:"flow_directions"`
	LastSetupError          *apiError         `json:"last_setup_error"`
	LatestAttempt           *string           `json:"latest_attempt"`
	Livemode                bool              `json:"livemode"`
	Mandate                 *string           `json:"mandate"`
	Metadata                map[string]string `json:"metadata"`
	NextAction              *nextAction       `json:"next_action"`
	OnBehalfOf              *string           `json:"on_behalf_of"`
	PaymentMethod           *string           `json:"payment_method"`
	PaymentMethodOptions    struct{}          `json:"payment_method_options"`
	PaymentMethodTypes      []string          `json:"payment_method_types"`
	SingleUseMandate        *string           `json:"single_use_mandate"`
	Status                  string            `json:"status"`
	Usage                   string            `json:"usage"`
}

type setup struct {
	SetupIntent
	Sim setupSim `json:"_sim"`
}

type setupSim struct {
	ReturnURL string `json:"return_url,omitempty"`
}

func (s *setup) id() string   { return s.ID }
func (s *setup) born() int64  { return s.Created }
func (s *setup) kind() string { return kindSetup }
func (s *setup) wire() any    { return &s.SetupIntent }

var setupSchema = accepts("automatic_payment_methods[*]", "confirm", "customer", "description", "metadata[*]", "payment_method",
	"payment_method_data[*]", "payment_method_types[]", "payment_method_options[*]", "return_url", "usage", "use_stripe_sdk", "client_secret", "mandate_data[*]", "key")

func (c *call) createSetup() (any, *apiError) {
	r := &c.reader
	si := &setup{SetupIntent: SetupIntent{ID: c.srv.ids.id("seti_1", 23), Object: "setup_intent", Created: c.now, Status: needsMethod,
		Metadata: r.metadata(nil), PaymentMethodTypes: []string{"card"}, Usage: "off_session", Description: optional(r.limited("description", 1000))}}
	si.ClientSecret = c.srv.ids.id(si.ID+"_secret_", 25)
	if v := r.oneOf("usage", "off_session", "on_session"); v != "" {
		si.Usage = v
	}
	if v := r.str("customer"); v != "" {
		if c.liveCustomer(v) == nil {
			r.fail(noSuchParam("customer", v, "customer"))
		}
		si.Customer = &v
	}
	confirm, conf := r.bool("confirm"), c.readConfirmation()
	if r.err != nil {
		return nil, r.err
	}
	m, err := c.setupMethod(si)
	if err != nil {
		return nil, err
	}
	if m != nil {
		si.Status = needsConfirmation
	}
	c.put(si)
	c.emit("setup_intent.created", si)
	if confirm {
		next := *si
		return c.confirmSetup(&next, m, conf)
	}
	return &si.SetupIntent, nil
}

func (c *call) setupMethod(si *setup) (*method, *apiError) {
	var m *method
	var err *apiError
	switch name := c.reader.str("payment_method"); {
	case c.reader.p.has("payment_method_data"):
		m, err = c.methodFromData("payment_method_data")
	case name != "":
		m, err = c.methodByName(name, "payment_method")
	default:
		return c.acct.methods.get(deref(si.PaymentMethod)), nil
	}
	if err == nil {
		si.PaymentMethod = &m.ID
	}
	return m, err
}

func (c *call) findSetup() (*setup, *apiError) {
	si := c.acct.setups.get(c.id)
	if si == nil {
		return nil, noSuch("setupintent", c.id)
	}
	if secret := c.reader.str("client_secret"); (c.publishable || secret != "") && secret != si.ClientSecret {
		return nil, invalid("client_secret", "The client_secret provided does not match the client_secret associated with the SetupIntent.")
	}
	return si, nil
}

func (c *call) retrieveSetup() (any, *apiError) {
	si, err := c.findSetup()
	if err != nil {
		return nil, err
	}
	return &si.SetupIntent, nil
}

func (c *call) confirmSetupEndpoint() (any, *apiError) {
	stored, err := c.findSetup()
	if err != nil {
		return nil, err
	}
	conf := c.readConfirmation()
	if c.reader.err != nil {
		return nil, c.reader.err
	}
	if stored.Status == succeeded || stored.Status == canceled {
		e := refused("setup_intent_unexpected_state", "", "You cannot confirm this SetupIntent because it has a status of "+stored.Status+".")
		e.SetupIntent = &stored.SetupIntent
		return nil, e
	}
	si := *stored
	m, err := c.setupMethod(&si)
	if err != nil {
		return nil, err
	}
	return c.confirmSetup(&si, m, conf)
}

func (c *call) confirmSetup(si *setup, m *method, conf confirmation) (any, *apiError) {
	if m == nil {
		e := refused("setup_intent_unexpected_state", "", "You cannot confirm this SetupIntent because it's missing a payment method. Update the SetupIntent with a payment method and then confirm it again.")
		e.SetupIntent = &si.SetupIntent
		return nil, e
	}
	si.Sim.ReturnURL, si.NextAction, si.LastSetupError = conf.returnURL, nil, nil
	if a := m.card().auth; a == authAlways || a == authUnlessSetUp {
		si.Status, si.NextAction = needsAction, c.nextAction(si.ID, si.ClientSecret, conf)
		c.put(si)
		c.emit("setup_intent.requires_action", si)
		return &si.SetupIntent, nil
	}
	return c.finishSetup(si, m)
}

// finishSetup asks the issuer and saves the card.
func (c *call) finishSetup(si *setup, m *method) (any, *apiError) {
	if out := m.card().outcome; out != approved && m.card().token != "pm_card_chargeCustomerFail" {
		e := refused(out.code, out.param, out.message)
		e.status, e.Type, e.DeclineCode, e.PaymentMethod = 402, typeCard, out.decline, &m.PaymentMethod
		kept := *e
		si.Status, si.PaymentMethod, si.LastSetupError = needsMethod, nil, &kept
		c.put(si)
		c.emit("setup_intent.setup_failed", si)
		e.SetupIntent = &si.SetupIntent
		return nil, e
	}
	saved := *m
	saved.Sim.SetUp, saved.Customer = true, si.Customer
	c.put(&saved)
	si.Status = succeeded
	c.put(si)
	c.emit("setup_intent.succeeded", si)
	return &si.SetupIntent, nil
}

func (c *call) setupAuthenticated(stored *setup, ok bool) {
	si := *stored
	si.NextAction = nil
	m := c.acct.methods.get(deref(si.PaymentMethod))
	if ok {
		_, _ = c.finishSetup(&si, m) // a decline is kept on the intent
		return
	}
	si.LastSetupError = invalid("", authFailureText).withCode("setup_intent_authentication_failure")
	si.Status, si.PaymentMethod = needsMethod, nil
	c.put(&si)
	c.emit("setup_intent.setup_failed", &si)
}
