package cli

import (
	"testing"

	"github.com/scf-service/service/api"
)

func TestHintForForbidden(t *testing.T) {
	a := &app{}
	for _, c := range []struct {
		err  error
		want string
	}{
		{api.NotMember(), "`service org list` lists yours; choose one with `service use --org NAME`"},
		{
			api.Forbidden("no").WithDetails(api.ErrorDetail{Field: api.NoRemoteModel, Message: "set by the assessment"}),
			"choose one with `service model use ollama/MODEL`; `service assess update --no-remote-model=false` lifts the ban",
		},
		{api.Forbidden("your role does not allow this"), "ask an owner or admin of the organization, or use another key"},
	} {
		if got := a.hintFor(c.err); got != c.want {
			t.Errorf("%v: hint %q, want %q", c.err, got, c.want)
		}
	}
}
