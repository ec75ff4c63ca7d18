package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/scf-service/service/internal/tracing"
)

// limitTransport limits the size of responses.
type limitTransport struct {
	http.RoundTripper
	maxBytes int
}

func (b limitTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	// The model's server is chosen by the operator, so it may see the trace ID.
	r = r.Clone(r.Context())
	tracing.Inject(r.Context(), r.Header)
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, remaining: b.maxBytes}
	return resp, nil
}

// withoutURL returns an HTTP client's error without the method and URL at the beginning.
func withoutURL(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

type limitedBody struct {
	io.ReadCloser
	remaining int
}

func (l *limitedBody) Read(p []byte) (int, error) {
	if l.remaining <= 0 {
		return 0, fmt.Errorf("%w: the response exceeds the size limit", ErrAnswerTooLong)
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.remaining)])
	l.remaining -= n
	return n, err
}
