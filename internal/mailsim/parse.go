package mailsim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/charset"
)

// A message may be hostile: nesting and parts beyond these are not looked at.
const (
	maxDepth = 8
	maxParts = 100
)

// header is one header field, unfolded and decoded (RFC 2047).
type header struct{ Name, Value string }

// part is what is neither the text nor the HTML.
type part struct {
	Name string
	Type string
	Size int
	body []byte
}

// content is a message taken apart.
type content struct {
	Headers  []header
	Text     string
	HTML     string
	Parts    []part
	Problems []string // what could not be read as it should, for people
}

var words = &mime.WordDecoder{CharsetReader: charset.Reader}

// summarise reads what the list shows.
func summarise(env envelope, raw []byte) summary {
	s := summary{envelope: env}
	for _, h := range readHeaders(raw) {
		switch strings.ToLower(h.Name) {
		case "subject":
			s.Subject = first(s.Subject, short(h.Value))
		case "message-id":
			s.MessageID = first(s.MessageID, short(bareID(h.Value)))
		case "from":
			s.HeaderFrom = first(s.HeaderFrom, short(h.Value))
		case "to":
			s.HeaderTo = first(s.HeaderTo, short(h.Value))
		case "date":
			s.Date = first(s.Date, short(h.Value))
		}
	}
	return s
}

// short keeps a header that is far longer than any honest one out of the lists.
func short(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// maxHeaderBytes is how far headers are read; a message may be nothing else.
const maxHeaderBytes = 256 << 10

// readHeaders is lenient: a line that is no header is passed over, so that the
// inbox shows what it can of any message. Contents are always valid UTF-8.
func readHeaders(raw []byte) []header {
	raw = raw[:min(len(raw), maxHeaderBytes)]
	var names []string
	var folded [][]string // the lines of each value
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		text := strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "�")
		if text == "" {
			break
		}
		if last := len(names) - 1; (text[0] == ' ' || text[0] == '\t') && last >= 0 {
			folded[last] = append(folded[last], strings.TrimSpace(text))
			continue
		}
		if name, value, ok := strings.Cut(text, ":"); ok && name != "" && !strings.ContainsAny(name, " \t") {
			names = append(names, name)
			folded = append(folded, []string{strings.TrimSpace(value)})
		}
	}
	headers := make([]header, len(names))
	for i, name := range names {
		headers[i] = header{Name: name, Value: strings.TrimSpace(strings.Join(folded[i], " "))}
		if decoded, err := words.DecodeHeader(headers[i].Value); err == nil {
			headers[i].Value = strings.ToValidUTF8(decoded, "�")
		}
	}
	return headers
}

// parse takes a message apart for its page.
func parse(raw []byte) content {
	c := content{Headers: readHeaders(raw)}
	entity, err := message.Read(bytes.NewReader(raw))
	if entity == nil {
		c.Problems = append(c.Problems, fmt.Sprintf("not readable as MIME: %v", err))
		_, body, _ := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
		c.Text = strings.ToValidUTF8(string(body), "�")
		return c
	}
	c.walk(entity, err, 0)
	return c
}

// walk collects the parts below entity; err is what came with it.
func (c *content) walk(entity *message.Entity, err error, depth int) {
	if err != nil {
		c.problem(err)
	}
	if reader := entity.MultipartReader(); reader != nil && depth < maxDepth {
		for len(c.Parts) < maxParts {
			child, err := reader.NextPart()
			if child == nil {
				if !errors.Is(err, io.EOF) {
					c.problem(err)
				}
				return
			}
			c.walk(child, err, depth+1)
		}
		c.problem(fmt.Errorf("more than %d parts", maxParts))
		return
	}
	body, err := io.ReadAll(io.LimitReader(entity.Body, MaxMessageBytes))
	if err != nil {
		c.problem(err)
	}
	kind, params, _ := entity.Header.ContentType()
	disposition, named, _ := entity.Header.ContentDisposition()
	inline := disposition != "attachment"
	switch {
	case inline && kind == "text/html" && c.HTML == "":
		c.HTML = strings.ToValidUTF8(string(body), "�")
	case inline && (kind == "text/plain" || kind == "") && c.Text == "":
		c.Text = strings.ToValidUTF8(string(body), "�")
	default:
		name := first(named["filename"], params["name"])
		c.Parts = append(c.Parts, part{Name: strings.ToValidUTF8(name, "�"), Type: kind, Size: len(body), body: body})
	}
}

func (c *content) problem(err error) {
	if len(c.Problems) < 5 && err != nil {
		c.Problems = append(c.Problems, strings.ToValidUTF8(err.Error(), "�"))
	}
}
