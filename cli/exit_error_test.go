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
		{api.NotMember(), "list your organizations with `service org list`, then choose one with `service use --org NAME`"},
		{
			api.Forbidden("no").WithDetails(api.ErrorDetail{Field: api.NoRemoteModel, Message: "set by the assessment"}),
			"choose a local model with `service model use ollama/MODEL`, " +
				"or allow remote models with `service assess update --no-remote-model=false`",
		},
		{
			api.Forbidden("your role does not allow this"),
			"ask an owner or admin of the organization for the required permission, or use a different API key",
		},
	} {
		if got := a.hintFor(c.err); got != c.want {
			t.Errorf("%v: hint %q, want %q", c.err, got, c.want)
		}
	}
}
