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

// put stores a version of an object.
func (c *call) put(o object) {
	c.versions = append(c.versions, o)
	c.acct.store(o)
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
