package llm

import (
	"fmt"
	"io"
	"net/http"

	"github.com/scf-service/service/internal/tracing"
)

// bounded lets no more than so many bytes of an answer through.
type bounded struct {
	http.RoundTripper
	most int
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	// The model's server is the operator's choice: it may know which trace it works for.
	r = r.Clone(r.Context())
	tracing.Inject(r.Context(), r.Header)
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	resp.Body = &limited{ReadCloser: resp.Body, left: b.most}
	return resp, nil
}

type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("%w: its bytes don't end", ErrTooMuch)
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
