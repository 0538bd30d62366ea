package stripesim

// call is one request on its way through an endpoint. put and emit collect what it
// changed for the journal; the caller of the endpoint holds the account's mutex.
type call struct {
	srv         *Server
	acct        *account
	ep          *endpoint
	reader      reader // the request's parameters
	id          string // {id} of the path
	sub         string // second id of the path
	now         int64  // unix seconds, simulator clock
	key         string // idempotency key, empty for none
	requestID   string
	origin      string // where browsers reach the simulator
	publishable bool

	versions []object
	events   []*event
}

// put stores a version of an object. A version of the same call that no event is
// about is replaced: nobody will ever ask for it.
func (c *call) put(o object) {
	c.acct.store(o)
	for i := len(c.versions) - 1; i >= 0; i-- {
		if c.versions[i].id() == o.id() && !c.told(i) {
			c.versions[i] = o
			return
		}
	}
	c.versions = append(c.versions, o)
}

// told tells whether an event of this call is about version i.
func (c *call) told(i int) bool {
	for _, e := range c.events {
		if e.Version == i {
			return true
		}
	}
	return false
}

// endpoint is one route of the API.
type endpoint struct {
	method string
	path   string // pattern of net/http with {id}
	params schema
	public bool // a publishable key may call it
	run    func(*call) (any, *apiError)
	lockOn []string // parameters naming the object to lock; default: the path's id
}

// lockID names the object a call changes, for the per-object lock.
func (c *call) lockID() string {
	for _, name := range c.ep.lockOn {
		id := c.reader.str(name)
		if ch := c.acct.charges.get(id); ch != nil {
			return ch.PaymentIntent // a charge is locked with its intent
		}
		if id != "" {
			return id
		}
	}
	return c.id
}
