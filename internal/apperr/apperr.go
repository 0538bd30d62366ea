// Package apperr gives an error the one property by which the outer layers
// decide: what kind of answer the caller gets. The message of an Error is
// written for the person who reads it; the cause stays in the log.
package apperr

import (
	"errors"
	"fmt"
)

// Kind says what the caller may do next.
type Kind int

// The kinds, each with the HTTP status that the web layer gives it.
const (
	Internal         Kind = iota // 500: a fault of ours; try again later
	Invalid                      // 422: the input is wrong; mend it
	Malformed                    // 400: the request cannot be read
	NotFound                     // 404: there is no such thing
	Unauthorized                 // 401: say who you are first
	Forbidden                    // 403: known, but not allowed
	Conflict                     // 409: the thing has changed meanwhile
	InFlight                     // 409: the same request is being worked on; ask again shortly
	TooLarge                     // 413: send less
	Unavailable                  // 503: a part that we need does not answer
	MethodNotAllowed             // 405: the thing is there, but cannot be used like that
)

// Field names one input and what is wrong with it.
type Field struct{ Name, Problem string }

// Error is an error with a kind and a message for people.
type Error struct {
	Kind    Kind
	Message string
	Fields  []Field
	cause   error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause, nil when there is none.
func (e *Error) Unwrap() error { return e.cause }

// New returns an error of a kind with a message for people.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Because attaches the cause, which is logged and never shown.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// InvalidFields returns an Invalid error that names each wrong input.
func InvalidFields(fields ...Field) *Error {
	return &Error{Kind: Invalid, Message: "Some of what you entered cannot be used.", Fields: fields}
}

// KindOf returns the kind of the first Error in the chain, Internal for others.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
