package daemon

import (
	"bytes"
	"net/http"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/idempotency"
)

// maxKept bounds an answer that is kept to be given again; a longer one is not kept.
const maxKept = 4 << 20

// once serves a POST that carries an idempotency key at most once. body stands for
// what was sent. Answers that are no success are not kept: they can be tried again.
func (s *Server) once(w http.ResponseWriter, r *http.Request, op *api.Operation, body string, serve http.HandlerFunc) {
	key := r.Header.Get(api.IdempotencyHeader)
	if key == "" || r.Method != http.MethodPost || op.Access == api.Public {
		serve(w, r)
		return
	}
	by := caller(r.Context())
	req := idempotency.Request{OrganizationID: by.OrganizationID, Operation: op.ID, Key: key,
		Fingerprint: hashOf([]byte(by.Actor.ID), []byte(r.URL.RequestURI()), []byte(body))}
	if op.Access != api.Tenant {
		// One's active organization may change between two tries, and nobody's key may stand in another's way.
		req.OrganizationID = "user " + by.UserID
	}
	before, done, err := s.engine.Replays.Begin(r.Context(), req)
	if err != nil {
		s.refuse(w, r, op, err)
		return
	}
	if before != nil {
		h := w.Header()
		h.Set(api.IdempotencyReplayed, "true")
		for name, value := range map[string]string{"Location": before.Location, "Content-Type": before.Type} {
			if value != "" {
				h.Set(name, value)
			}
		}
		w.WriteHeader(before.Status)
		_, _ = w.Write(before.Body)
		return
	}
	kept := &keeper{ResponseWriter: w}
	defer func() { // also where serve panics
		if err := done(kept.answer()); err != nil {
			s.log.Error("an answer could not be kept for its idempotency key", "trace_id", traceID(r.Context()), "operation", op.ID, "error", err)
		}
	}()
	serve(kept, r)
}

// keeper passes an answer on and keeps a copy.
type keeper struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	over   bool
}

func (k *keeper) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *keeper) Write(b []byte) (int, error) {
	if k.status == 0 {
		k.status = http.StatusOK
	}
	if k.over = k.over || k.body.Len()+len(b) > maxKept; !k.over {
		_, _ = k.body.Write(b)
	}
	return k.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find what is below.
func (k *keeper) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// answer is what to keep: nothing where it was no success.
func (k *keeper) answer() *idempotency.Answer {
	if k.status < 200 || k.status > 299 || k.over {
		return nil
	}
	h := k.Header()
	return &idempotency.Answer{Status: k.status, Location: h.Get("Location"), Type: h.Get("Content-Type"), Body: k.body.Bytes()}
}
