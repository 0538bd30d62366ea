package stripesim

// Routes lists the endpoints, so that the tests from outside can show that they
// leave none out.
func Routes() []string {
	var out []string
	for _, ep := range endpoints {
		out = append(out, ep.method+" "+ep.path)
	}
	return out
}

// FaultKinds lists the kinds of faults.
func FaultKinds() []string {
	var out []string
	for _, k := range faultKinds {
		out = append(out, k.Kind)
	}
	return out
}
