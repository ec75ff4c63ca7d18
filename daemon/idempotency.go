package daemon

import (
	"bytes"
	"net/http"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/idempotency"
)

// maxRecordedBody is the maximum size of a stored response; longer ones are not stored.
const maxRecordedBody = 4 << 20

// serveIdempotent executes a POST with an idempotency key at most once. bodyHash identifies the
// request body. Unsuccessful responses are not stored, so that the request can be retried.
func (s *Server) serveIdempotent(w http.ResponseWriter, r *http.Request, op *api.Operation, bodyHash string, serve http.HandlerFunc) {
	key := r.Header.Get(api.IdempotencyHeader)
	if key == "" || r.Method != http.MethodPost || op.Access == api.Public {
		serve(w, r)
		return
	}
	by := callerFrom(r.Context())
	parts := [][]byte{[]byte(r.URL.RequestURI()), []byte(bodyHash)}
	if op.ReturnsSecret() { // another credential of the same user may not read it
		parts = append(parts, []byte(by.Actor.ID))
	}
	req := idempotency.Request{
		OrganizationID: by.OrganizationID + " user " + by.UserID, Operation: op.ID, Key: key, Fingerprint: hashParts(parts...),
	}
	if op.Access != api.Tenant {
		req.OrganizationID = "user " + by.UserID // the active organization may change between two attempts
	}
	recorded, finish, err := s.engine.Idempotency.Begin(r.Context(), req)
	if err != nil {
		s.sendOperationError(w, r, op, err)
		return
	}
	if recorded != nil {
		h := w.Header()
		h.Set(api.IdempotencyReplayed, "true")
		for name, value := range map[string]string{"Location": recorded.Location, "Content-Type": recorded.Type} {
			if value != "" {
				h.Set(name, value)
			}
		}
		if op.ReturnsSecret() {
			h.Set("Cache-Control", "no-store")
		}
		w.WriteHeader(recorded.Status)
		_, _ = w.Write(recorded.Body)
		return
	}
	recorder := &responseRecorder{ResponseWriter: w}
	defer func() { // even if serve panics
		if err := finish(recorder.successfulResponse()); err != nil {
			s.log.Error(
				"storing the response for an idempotency key failed",
				"trace_id",
				traceIDFrom(r.Context()),
				"operation",
				op.ID,
				"error",
				err,
			)
		}
	}()
	serve(recorder, r)
}

// responseRecorder passes a response on and keeps a copy.
type responseRecorder struct {
	http.ResponseWriter
	status   int
	body     bytes.Buffer
	tooLarge bool
}

func (k *responseRecorder) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *responseRecorder) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.status = http.StatusOK
	}
	if k.tooLarge = k.tooLarge || k.body.Len()+len(b) > maxRecordedBody; !k.tooLarge {
		_, _ = k.body.Write(b)
	}
	return k.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the underlying writer.
func (k *responseRecorder) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// successfulResponse returns the response to store, or nil if it was not successful or is too large.
func (k *responseRecorder) successfulResponse() *idempotency.Response {
	if k.status < 200 || k.status > 299 || k.tooLarge {
		return nil
	}
	h := k.Header()
	return &idempotency.Response{Status: k.status, Location: h.Get("Location"), Type: h.Get("Content-Type"), Body: k.body.Bytes()}
}
