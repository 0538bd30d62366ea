package orders

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"shop/internal/apperr"
)

// The longest name, in characters, and the longest address (RFC 5321 section
// 4.5.3.1), in bytes.
const (
	maxName  = 200
	maxEmail = 254
)

// Buyer is who orders.
type Buyer struct{ Email, Name string }

// clean returns the buyer as it is stored, or an Invalid error that names each
// field that cannot be used.
func (b Buyer) clean() (Buyer, error) {
	var problems []apperr.Field
	email, problem := cleanEmail(b.Email)
	if problem != "" {
		problems = append(problems, apperr.Field{Name: "email", Problem: problem})
	}
	name, problem := cleanName(b.Name)
	if problem != "" {
		problems = append(problems, apperr.Field{Name: "name", Problem: problem})
	}
	if problems != nil {
		return Buyer{}, apperr.InvalidFields(problems...)
	}
	return Buyer{Email: email, Name: name}, nil
}

func cleanName(name string) (cleaned, problem string) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", "Tell us your name."
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", "The name contains characters that cannot be printed."
	case utf8.RuneCountInString(name) > maxName:
		return "", "The name is too long; 200 characters are the most."
	}
	return name, ""
}

// cleanEmail accepts what can be delivered by any SMTP server: an ASCII local
// part and a domain with a dot, which may be international and is stored in
// its ASCII form.
func cleanEmail(email string) (cleaned, problem string) {
	const example = "Write it like ada@example.com."
	email = strings.TrimSpace(email)
	if email == "" {
		return "", "Tell us where to send the receipt."
	}
	local, domain, ok := cutLast(email, "@")
	if !ok || local == "" || domain == "" {
		return "", "An e-mail address has a name, an @ and a domain. " + example
	}
	if strings.ContainsFunc(local, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", "The part before the @ may contain only plain letters, digits and signs. " + example
	}
	domain, err := idna.Lookup.ToASCII(domain)
	if err != nil || !strings.Contains(domain, ".") {
		return "", "The part after the @ is not a domain. " + example
	}
	address, err := mail.ParseAddress(local + "@" + domain)
	if err != nil || address.Address != local+"@"+domain || address.Name != "" {
		return "", "This is not an e-mail address. " + example
	}
	if len(address.Address) > maxEmail {
		return "", "The address is too long; 254 characters are the most."
	}
	return address.Address, ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
