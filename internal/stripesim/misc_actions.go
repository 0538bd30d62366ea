package stripesim

import "slices"

// eventLife is how long events can be read back, in seconds.
const eventLife = 30 * 24 * 60 * 60

func (c *call) retrieveEvent() (any, *apiError) {
	e := c.acct.events.get(c.id)
	if e == nil || e.Created < c.now-eventLife {
		return nil, noSuch("event", c.id)
	}
	return e.wire(), nil
}

func (c *call) listEvents() (any, *apiError) {
	kind, kinds := c.reader.str("type"), c.reader.p.all("types[]")
	oldest := c.now - eventLife
	return listOf(c, &c.acct.events, "event", func(e *event) bool {
		return e.Created >= oldest && same(kind, e.Type) && (len(kinds) == 0 || slices.Contains(kinds, e.Type))
	})
}

// unknownURL is the answer to every path the API does not have.
func (c *call) unknownURL() (any, *apiError) {
	e := invalid("", "Unrecognized request URL ("+c.ep.method+": "+c.ep.path+"). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.")
	e.status = 404
	return nil, e
}
