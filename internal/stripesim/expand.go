package stripesim

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxExpandDepth is how many levels an expand path may have.
const maxExpandDepth = 4

// expandable names, for each type of object, the fields that hold an id which can
// be expanded, and the kind of object behind it.
var expandable = map[string]map[string]string{
	"payment_intent": {"latest_charge": kindCharge, "payment_method": kindMethod, "customer": kindCustomer},
	"charge":         {"payment_intent": kindIntent, "customer": kindCustomer, "balance_transaction": kindTxn},
	"refund":         {"charge": kindCharge, "payment_intent": kindIntent, "balance_transaction": kindTxn},
	"dispute":        {"charge": kindCharge, "payment_intent": kindIntent},
	"payment_method": {"customer": kindCustomer},
	"setup_intent":   {"payment_method": kindMethod, "customer": kindCustomer},
}

var nouns = map[string]string{"payment_intents": "payment_intent", "charges": "charge", "refunds": "refund",
	"disputes": "dispute", "payment_methods": "payment_method", "setup_intents": "setup_intent"}

// checkExpand refuses, before anything executes, what the endpoint cannot expand.
func (ep *endpoint) checkExpand(p params) *apiError {
	paths := p.all("expand[]")
	if len(paths) == 0 {
		return nil
	}
	root, isList := "", false
	for _, segment := range strings.Split(ep.path, "/") {
		if noun := nouns[segment]; noun != "" {
			root, isList = noun, ep.method == "GET"
		} else if segment == "{id}" || segment == "{sub}" {
			isList = false
		}
	}
	for _, path := range paths {
		steps := strings.Split(path, ".")
		if len(steps) > maxExpandDepth {
			return invalid("", "You cannot expand more than 4 levels of a property. Property: "+path)
		}
		if isList {
			if steps[0] != "data" {
				return cannotExpand(path)
			}
			steps = steps[1:]
		}
		at := root
		for _, field := range steps {
			next, ok := expandable[at][field]
			if !ok {
				return cannotExpand(path)
			}
			at = next
		}
	}
	return nil
}

func cannotExpand(path string) *apiError {
	return invalid("", "This property cannot be expanded ("+path+").")
}

// expanded returns v with the ids named by expand[] replaced by their objects.
func (c *call) expanded(v any) any {
	paths := c.reader.p.all("expand[]")
	if len(paths) == 0 {
		return v
	}
	tree := treeOf(v)
	for _, path := range paths {
		c.expandPath(tree, strings.Split(path, "."))
	}
	return tree
}

// expandPath follows one path, checked before, and puts objects in place of ids.
func (c *call) expandPath(node any, steps []string) {
	if len(steps) == 0 {
		return
	}
	switch at := node.(type) {
	case []any:
		for _, item := range at {
			c.expandPath(item, steps)
		}
	case map[string]any:
		name, _ := at["object"].(string)
		if id, isID := at[steps[0]].(string); isID {
			if o := c.acct.find(expandable[name][steps[0]], id); o != nil {
				at[steps[0]] = treeOf(o.wire())
			}
		}
		c.expandPath(at[steps[0]], steps[1:])
	}
}

// treeOf renders a value as a tree that can be changed. It panics where encoding
// a struct of this package would be a mistake in it.
func treeOf(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // int64 must not pass through a float
	if err := dec.Decode(&tree); err != nil {
		panic(err)
	}
	return tree
}
