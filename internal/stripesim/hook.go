package stripesim

import (
	"net/url"
	"slices"
)

// WebhookEndpoint as API 2023-10-16 shows it; the secret only when it is created.
type WebhookEndpoint struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	APIVersion    *string           `json:"api_version"`
	Application   *string           `json:"application"`
	Created       int64             `json:"created"`
	Description   *string           `json:"description"`
	EnabledEvents []string          `json:"enabled_events"`
	Livemode      bool              `json:"livemode"`
	Metadata      map[string]string `json:"metadata"`
	Secret        string            `json:"secret,omitempty"`
	Status        string            `json:"status"`
	URL           string            `json:"url"`
}

type hook struct {
	WebhookEndpoint
	Sim hookSim `json:"_sim"`
}

type hookSim struct {
	Secrets []hookSecret `json:"secrets"` // newest first
	Deleted bool         `json:"deleted,omitempty"`
}

// hookSecret signs until Until (unix seconds), 0 for ever.
type hookSecret struct {
	Secret string `json:"secret"`
	Until  int64  `json:"until,omitempty"`
}

func (h *hook) id() string   { return h.ID }
func (h *hook) born() int64  { return h.Created }
func (h *hook) kind() string { return kindEndpoint }

func (h *hook) wire() any {
	if h.Sim.Deleted {
		return &deletedObject{ID: h.ID, Object: "webhook_endpoint", Deleted: true}
	}
	shown := h.WebhookEndpoint
	shown.Secret = ""
	return &shown
}

// wants tells whether events of a type go to this endpoint.
func (h *hook) wants(kind string) bool {
	return !h.Sim.Deleted && h.Status == "enabled" && (slices.Contains(h.EnabledEvents, kind) || slices.Contains(h.EnabledEvents, "*"))
}

// secrets returns the secrets that sign at a time.
func (h *hook) secrets(now int64) []string {
	var out []string
	for _, s := range h.Sim.Secrets {
		if s.Until == 0 || now < s.Until {
			out = append(out, s.Secret)
		}
	}
	return out
}

var hookSchema = accepts("url", "enabled_events[]", "api_version", "description", "metadata[*]", "disabled", "connect")

func (c *call) createHook() (any, *apiError) {
	c.reader.required("url")
	if len(c.reader.p.all("enabled_events[]")) == 0 {
		c.reader.fail(missingParam("enabled_events"))
	}
	h := &hook{WebhookEndpoint: WebhookEndpoint{ID: c.srv.ids.id("we_1", 23), Object: "webhook_endpoint", Created: c.now, Status: "enabled"}}
	if err := c.fillHook(h); err != nil {
		return nil, err
	}
	secret := c.srv.ids.id("whsec_", 32)
	h.Sim.Secrets = []hookSecret{{Secret: secret}}
	c.put(h)
	shown := h.WebhookEndpoint
	shown.Secret = secret
	return &shown, nil
}

func (c *call) fillHook(h *hook) *apiError {
	r := &c.reader
	if v := r.str("url"); v != "" {
		u, err := url.Parse(v)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			r.fail(invalid("url", "Invalid URL: An explicit scheme (such as https) must be provided.").withCode("url_invalid"))
		}
		h.URL = v
	}
	if events := r.p.all("enabled_events[]"); len(events) > 0 {
		h.EnabledEvents = events
	}
	if v := r.oneOf("api_version", versions...); v != "" {
		h.APIVersion = &v
	}
	r.set("description", 500, &h.Description)
	if _, sent := r.p.get("disabled"); sent {
		h.Status = map[bool]string{true: "disabled", false: "enabled"}[r.bool("disabled")]
	}
	h.Metadata = r.metadata(h.Metadata)
	return r.err
}

func (c *call) liveHook() (*hook, *apiError) {
	h := c.acct.endpoints.get(c.id)
	if h == nil || h.Sim.Deleted {
		return nil, noSuch("webhook_endpoint", c.id)
	}
	return h, nil
}

func (c *call) updateHook() (any, *apiError) {
	stored, err := c.liveHook()
	if err != nil {
		return nil, err
	}
	next := *stored
	if err := c.fillHook(&next); err != nil {
		return nil, err
	}
	c.put(&next)
	return next.wire(), nil
}

func (c *call) retrieveHook() (any, *apiError) {
	h, err := c.liveHook()
	if err != nil {
		return nil, err
	}
	return h.wire(), nil
}

func (c *call) listHooks() (any, *apiError) {
	return listOf(c, &c.acct.endpoints, "webhook_endpoint", func(h *hook) bool { return !h.Sim.Deleted })
}

func (c *call) deleteHook() (any, *apiError) {
	stored, err := c.liveHook()
	if err != nil {
		return nil, err
	}
	next := *stored
	next.Sim.Deleted = true
	c.put(&next)
	return next.wire(), nil
}
