package providers

import (
	"fmt"
	"net/http"
)

// HTTPRequest is a Request in the form of its protocol, ready to be sent once.
// It holds no secret: the key joins it when it is sent.
type HTTPRequest struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// UnsupportedError says that a protocol has no field for a parameter. It is never
// dropped silently.
type UnsupportedError struct {
	Protocol Protocol
	Param    string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("protocol %s has no field for %s", e.Protocol, e.Param)
}
