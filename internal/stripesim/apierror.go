package stripesim

// The four error types that appear on the wire. Everything else that client
// libraries call an error type is derived from the HTTP status.
const (
	typeAPI         = "api_error"
	typeCard        = "card_error"
	typeIdempotency = "idempotency_error"
	typeInvalid     = "invalid_request_error"
)

// apiError is a refusal on its way to the client. Fields that do not apply are
// left out of the answer, never sent as null.
type apiError struct {
	status   int
	executed bool // the endpoint had begun to execute: the answer belongs to the key

	AdviceCode    string         `json:"advice_code,omitempty"`
	Charge        string         `json:"charge,omitempty"`
	Code          string         `json:"code,omitempty"`
	DeclineCode   string         `json:"decline_code,omitempty"`
	DocURL        string         `json:"doc_url,omitempty"`
	Message       string         `json:"message"`
	Param         string         `json:"param,omitempty"`
	PaymentIntent any            `json:"payment_intent,omitempty"` // *PaymentIntent, or *publicIntent for a publishable key
	PaymentMethod *PaymentMethod `json:"payment_method,omitempty"`
	RequestLogURL string         `json:"request_log_url,omitempty"`
	SetupIntent   *SetupIntent   `json:"setup_intent,omitempty"`
	Type          string         `json:"type"`
}

// Error makes an apiError a Go error for logs.
func (e *apiError) Error() string { return e.Type + " " + e.Code + ": " + e.Message }

// invalid is a 400 found while reading the parameters: nothing executed, nothing stored.
func invalid(param, message string) *apiError {
	return &apiError{status: 400, Type: typeInvalid, Param: param, Message: message}
}

// refused is a 400 by executed business logic: stored under the key and replayed.
func refused(code, param, message string) *apiError {
	e := invalid(param, message).withCode(code)
	e.executed = true
	return e
}

func (e *apiError) withCode(code string) *apiError {
	e.Code, e.DocURL = code, docURL(code)
	return e
}

func (e *apiError) about(pi *intent) *apiError {
	e.PaymentIntent = &pi.PaymentIntent
	return e
}

func docURL(code string) string {
	if code == "" {
		return ""
	}
	b := []byte("https://stripe.com/docs/error-codes/" + code)
	for i := range b {
		if b[i] == '_' {
			b[i] = '-'
		}
	}
	return string(b)
}

func missingParam(name string) *apiError {
	return invalid(name, "Missing required param: "+name+".").withCode("parameter_missing")
}

func unknownParam(name string) *apiError {
	return invalid(name, "Received unknown parameter: "+name).withCode("parameter_unknown")
}

func badInteger(name, message string) *apiError {
	return invalid(name, message).withCode("parameter_invalid_integer")
}

// noSuch says that an object named in the path does not exist: 404, param id.
func noSuch(noun, id string) *apiError {
	e := noSuchParam(noun, id, "id")
	e.status = 404
	return e
}

// noSuchParam says that an object named by a parameter does not exist: 400.
func noSuchParam(noun, id, param string) *apiError {
	return invalid(param, "No such "+noun+": '"+id+"'").withCode("resource_missing")
}

func internalError() *apiError {
	return &apiError{status: 500, Type: typeAPI, executed: true,
		Message: "An unknown error occurred while processing your request. If you continue to see this error, please contact support at https://support.stripe.com/contact."}
}
