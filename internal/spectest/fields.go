package spectest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/stripe/stripe-go/v76"
)

// objects maps the "object" of an answer to the struct stripe-go v76 reads it into.
var objects = map[string]reflect.Type{
	"payment_intent":      reflect.TypeFor[stripe.PaymentIntent](),
	"charge":              reflect.TypeFor[stripe.Charge](),
	"refund":              reflect.TypeFor[stripe.Refund](),
	"payment_method":      reflect.TypeFor[stripe.PaymentMethod](),
	"confirmation_token":  reflect.TypeFor[stripe.ConfirmationToken](),
	"customer":            reflect.TypeFor[stripe.Customer](),
	"dispute":             reflect.TypeFor[stripe.Dispute](),
	"setup_intent":        reflect.TypeFor[stripe.SetupIntent](),
	"event":               reflect.TypeFor[stripe.Event](),
	"webhook_endpoint":    reflect.TypeFor[stripe.WebhookEndpoint](),
	"balance":             reflect.TypeFor[stripe.Balance](),
	"balance_transaction": reflect.TypeFor[stripe.BalanceTransaction](),
}

var envelope = map[string]bool{"object": true, "data": true, "has_more": true, "url": true, "next_page": true}

// UnknownFields lists the keys of an answer that stripe-go v76 has no field for.
func UnknownFields(value any) []string {
	switch v := value.(type) {
	case map[string]any:
		if e, isError := v["error"].(map[string]any); isError && len(v) == 1 {
			return unknown(e, reflect.TypeFor[stripe.Error](), "error")
		}
		name, _ := v["object"].(string)
		if name == "list" || name == "search_result" {
			var out []string
			for key := range v {
				if !envelope[key] {
					out = append(out, name+"."+key)
				}
			}
			for _, item := range v["data"].([]any) {
				out = append(out, UnknownFields(item)...)
			}
			return out
		}
		if t := objects[name]; t != nil {
			return unknown(v, t, name)
		}
		return []string{fmt.Sprintf("object %q is not one the simulator should emit", name)}
	}
	return []string{"an answer is not an object"}
}

// unknown walks a value and the type it is read into side by side.
func unknown(value any, t reflect.Type, at string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	var out []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			out = append(out, unknown(item, t, at)...)
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return nil // a map such as metadata takes any key
		}
		if t == reflect.TypeFor[stripe.EventData]() {
			return UnknownFields(v["object"])
		}
		fields := jsonFields(t)
		for key, inner := range v {
			ft, known := fields[key]
			if !known {
				out = append(out, at+"."+key)
				continue
			}
			out = append(out, unknown(inner, ft, at+"."+key)...)
		}
	}
	return out
}

// jsonFields maps the JSON names of a struct, embedded ones included, to types.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			for n, ft := range jsonFields(f.Type) {
				out[n] = ft
			}
		}
		if name != "" && name != "-" {
			out[name] = f.Type
		}
	}
	return out
}
