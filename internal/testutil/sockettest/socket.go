// Package sockettest connects clients in tests to a server on a Unix socket.
package sockettest

import (
	"net"
	"net/http"

	"github.com/scf-service/service/client"
)

// Transport returns a transport over the Unix socket at path that uses a new connection for each request, because a
// server that is shutting down drops idle connections.
func Transport(path string) http.RoundTripper { return transport{path} }

type transport struct{ path string }

func (s transport) RoundTrip(req *http.Request) (*http.Response, error) {
	conn, err := (&net.Dialer{}).DialContext(req.Context(), "unix", s.path)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return client.OneRequestTransport(conn).RoundTrip(req)
}
