package spectest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stripe/stripe-mock/embedded"
)

// Spec is Stripe's published description of its API, version 2026-08-26.dahlia.
type Spec struct {
	doc    *openapi3.T
	routes []route
}

type route struct {
	path    string
	pattern *regexp.Regexp
	item    *openapi3.PathItem
}

// LoadSpec reads the description that stripe-mock carries.
func LoadSpec() (*Spec, error) {
	doc, err := openapi3.NewLoader().LoadFromData(embedded.OpenAPISpec)
	if err != nil {
		return nil, fmt.Errorf("loading Stripe's API description: %w", err)
	}
	if err := relax(doc); err != nil {
		return nil, err
	}
	s := &Spec{doc: doc}
	parameter := regexp.MustCompile(`\\\{[^}]+\\\}`)
	for path, item := range doc.Paths.Map() {
		pattern := parameter.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
		s.routes = append(s.routes, route{path, regexp.MustCompile("^" + pattern + "$"), item})
	}
	return s, nil
}

// operation finds the operation of a request; a literal path wins over one with
// parameters.
func (s *Spec) operation(method, path string) *openapi3.Operation {
	var found *openapi3.Operation
	for _, r := range s.routes {
		if !r.pattern.MatchString(path) {
			continue
		}
		if op := r.item.GetOperation(method); op != nil && (found == nil || r.path == path) {
			found = op
		}
	}
	return found
}

// CheckResponse validates one answer and returns what is wrong with it.
func (s *Spec) CheckResponse(method, path string, status int, body []byte) []string {
	schema := s.doc.Components.Schemas["error"]
	if status < 300 {
		op := s.operation(method, path)
		if op == nil {
			return []string{fmt.Sprintf("%s %s is not in the description", method, path)}
		}
		schema = op.Responses.Value("200").Value.Content["application/json"].Schema
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{"not JSON: " + err.Error()}
	}
	err := schema.Value.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse())
	return problems(err)
}

// CheckEvent validates the object inside an event against the schema of its type.
func (s *Spec) CheckEvent(object map[string]any) []string {
	name, _ := object["object"].(string)
	schema := s.doc.Components.Schemas[name]
	if schema == nil {
		return []string{"an event carries an unknown object " + name}
	}
	return problems(schema.Value.VisitJSON(object, openapi3.MultiErrors(), openapi3.VisitAsResponse()))
}

// problems flattens validation errors to "pointer: reason".
func problems(err error) []string {
	switch e := err.(type) {
	case nil:
		return nil
	case openapi3.MultiError:
		var out []string
		for _, one := range e {
			out = append(out, problems(one)...)
		}
		return out
	case *openapi3.SchemaError:
		if inner, ok := e.Origin.(openapi3.MultiError); ok {
			return problems(inner)
		}
		line := "/" + strings.Join(e.JSONPointer(), "/") + ": " + e.Reason
		if origin, ok := e.Origin.(*openapi3.SchemaError); ok {
			return append(problems(origin), line)
		}
		return []string{line}
	}
	return []string{err.Error()}
}
