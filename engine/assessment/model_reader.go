package assessment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/modelreader"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/store"
)

// Model is a language model that can read evidence.
type Model interface {
	Name() string
	Chat(context.Context, llm.Request) (llm.Answer, error)
	Status(context.Context) llm.Status
}

// modelReaderPrefix begins the names of readers that are language models.
const modelReaderPrefix = api.ModelReader + "."

// RequireNoRemoteBan returns an error if the language model runs on another machine and the
// organization or the assessment forbids that. assessment may be empty.
func (s *Service) RequireNoRemoteBan(ctx context.Context, org, assessment string, m Model) error {
	by, err := s.remoteModelBan(ctx, org, assessment)
	if err == nil && by != "" && m.Status(ctx).Remote {
		err = forbiddenModelError(by, m.Name())
	}
	return err
}

// remoteModelBan returns the setting that forbids models on other machines for an assessment, or "" if they are
// allowed; see evidence.RemoteModelBan.
func (s *Service) remoteModelBan(ctx context.Context, org, assessment string) (by string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		by, err = evidence.RemoteModelBan(tx, org, assessment)
		return err
	})
	return by, err
}

func forbiddenModelError(by, model string) error {
	return api.Forbidden("%s doesn't allow models on other machines, and %s runs on another machine; use a model "+
		"on this machine", by, model).WithDetails(
		api.ErrorDetail{Field: api.NoRemoteModel, Message: "set by " + by},
	)
}

// modelStatus returns the status of the language model that may read the assessment's evidence.
func (s *Service) modelStatus(ctx context.Context, org, assessment string) (*llm.Status, error) {
	if s.model == nil {
		return nil, api.Invalid("reader",
			"no language model is selected; select a model with `service model use`, then restart the daemon if one is running")
	}
	st := s.model.Status(ctx)
	if st.Remote {
		if by, err := s.remoteModelBan(ctx, org, assessment); err != nil || by != "" {
			return nil, cmp.Or(err, forbiddenModelError(by, st.Model))
		}
	}
	if !st.Ready {
		return nil, api.Internal("%s can't read: %s", st.Model, cmp.Or(st.Problem, "the model is not available"))
	}
	return &st, nil
}

// findModelReader returns the assessment's reader for the model that the server currently reports.
// The reader may have no readings yet. If there are readings by a different model with the same
// name, note says so.
func findModelReader(tx *store.Tx, org, assessment string, st *llm.Status) (r api.Reader, note string, err error) {
	model := api.ReaderModel{Name: st.Model, Digest: st.Digest, Prompt: modelreader.PromptVersion(), Seed: llm.DefaultSeed}
	var other *api.Reader
	for have, err := range store.Readers.Scan(tx, org, store.Prefix(assessment)) {
		switch {
		case err != nil:
			return r, "", err
		case have.Model == nil || have.Model.Name != st.Model || have.Model.Prompt != model.Prompt:
		case have.Model.Digest == model.Digest && !have.ImportedAt.Before(r.ImportedAt):
			r = have
		case have.Model.Digest != model.Digest && have.Readings > 0:
			other = &have
		}
	}
	if r.Name == "" {
		r = newModelReader(org, assessment, model)
	}
	if other != nil && r.Readings == 0 {
		note = fmt.Sprintf(
			"The server now has a different version of %s than before (digest %s, was %s), so everything is read again.",
			st.Model, shortDigest(model.Digest), shortDigest(other.Model.Digest),
		)
	}
	return r, note, nil
}

func newModelReader(org, assessment string, model api.ReaderModel) api.Reader {
	sum := sha256.Sum256([]byte(strings.Join([]string{model.Name, model.Digest, model.ServedModel, model.Prompt}, "\n")))
	_, short, _ := strings.Cut(strings.ToLower(model.Name), "/")
	short = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, short)
	return api.Reader{
		OrganizationID: org, AssessmentID: assessment, Model: &model,
		Name: modelReaderPrefix + short[:min(len(short), 40)] + "." + hex.EncodeToString(sum[:4]),
	}
}

func shortDigest(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return cmp.Or(digest[:min(12, len(digest))], "unknown")
}

// readAllWithModel has the language model read all evidence it hasn't read yet, and returns the name of its reader.
func (s *Service) readAllWithModel(ctx context.Context, by api.Caller, assessment string) (reader string, _ error) {
	in := api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.Seconds = maxStepSeconds
	for {
		r, err := s.ReadWithModel(ctx, by, &in)
		switch {
		case err != nil:
			return "", err
		case r.Stopped != "":
			return "", api.Conflict(
				"%s; %d of %d statements are still unread. Continue reading, or draft with the reader %s", r.Stopped, r.Left, r.Statements, r.Reader,
			)
		case r.Left == 0:
			return r.Reader, nil
		}
		in.Body.Used = in.Body.Used.Add(r.Used)
	}
}

// isModel reports whether the reader is a language model.
func (r *storedReader) isModel() bool { return r != nil && r.Model != nil }

// countLeftToRules counts the statements that the rules judge because they have passages that the model has not read.
func (r *storedReader) countLeftToRules(ctx context.Context, candidates []judge.Candidates) (n int, err error) {
	for _, c := range candidates {
		passages := make([]reading.Passage, len(c.Passages))
		for i, p := range c.Passages {
			passages[i] = p.ForReader()
		}
		read, err := r.Read(ctx, c.Statement, passages)
		if err != nil {
			return 0, err
		}
		for _, one := range read {
			if !one.IsRead() {
				n++
				break
			}
		}
	}
	return n, nil
}

// describe returns the name of the reader and, if it is a model, the model's details.
func (r *storedReader) describe() string {
	if !r.isModel() {
		return r.Reader.Name
	}
	m := r.Model
	out := fmt.Sprintf("%s (model %s", r.Reader.Name, m.Name)
	if m.ServedModel != "" {
		out += ", served as " + m.ServedModel
	}
	if m.Digest != "" {
		out += ", digest " + shortDigest(m.Digest)
	}
	return out + ", prompt " + m.Prompt + ")"
}

// errOtherModel reports that a server now serves a different model.
var errOtherModel = errors.New("the server now provides a different model")
