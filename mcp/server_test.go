package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
)

// newLocalClient returns a client of a daemon on an empty folder, as the local user.
func newLocalClient(t testing.TB) *client.Client {
	t.Helper()
	d, err := daemon.New(daemon.Options{
		Engine: enginetest.New(t), Logger: enginetest.WarningLogger(), NewID: enginetest.NewID, Clock: time.Now,
		RateLimits: map[api.RateCategory]int{},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Options{Transport: client.InMemoryTransport(d.LocalHandler())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// session returns a client of the MCP SDK, connected by two pipes as a process would be.
func session(t testing.TB, o Options) *sdk.ClientSession {
	t.Helper()
	if o.Permissions == nil {
		o.Permissions = api.AllPermissions()
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	o.In, o.Out = fromClient, toClient
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.WithoutCancel(t.Context()), o); toClient.Close() }()
	s, err := sdk.NewClient(
		&sdk.Implementation{Name: "test", Version: "1"},
		nil,
	).Connect(
		t.Context(),
		&sdk.IOTransport{Reader: fromServer, Writer: toServer},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

func tools(t testing.TB, s *sdk.ClientSession) map[string]*sdk.Tool {
	t.Helper()
	all := map[string]*sdk.Tool{}
	for one, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all[one.Name] = one
	}
	return all
}

// callTool calls a tool and decodes its JSON.
func callTool(t testing.TB, s *sdk.ClientSession, name string, args map[string]any) (map[string]any, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Content[0].(*sdk.TextContent).Text), &out); err != nil {
		t.Fatalf("%s answers no JSON: %v", name, err)
	}
	return out, r.IsError
}

func code(answer map[string]any) string {
	e, _ := answer["error"].(map[string]any)
	return fmt.Sprint(e["code"])
}

func TestReadOnly(t *testing.T) {
	s := session(t, Options{Client: newLocalClient(t)})
	all := tools(t, s)
	for name, one := range all {
		op, ok := api.OperationByID(name)
		if !ok || !one.Annotations.ReadOnlyHint || op.Method != "GET" && name != api.SearchKB.ID {
			t.Errorf("%s is served and does not only read", name)
		}
	}
	for _, name := range []string{api.ListAssessments.ID, api.SearchKB.ID, api.GetControl.ID, api.ListApprovals.ID} {
		if all[name] == nil {
			t.Errorf("%s is not served", name)
		}
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: api.CreateAssessment.ID}); err == nil {
		t.Error("create-assessment can be called without --write")
	}
}

// TestWithheld checks that decisions, credentials and users are never exposed, whatever the options
// allow.
func TestWithheld(t *testing.T) {
	s := session(t, Options{Client: newLocalClient(t), AllowWrites: true})
	all := tools(t, s)
	for _, op := range api.Operations() {
		if all[op.ID] == nil {
			continue
		}
		if op.Method != "GET" && op.Access != api.Tenant ||
			slices.Contains([]api.Permission{api.ApprovalDecide, api.APIKeyWrite, "member:write"}, op.Permission) {
			t.Errorf("%s is served", op.ID)
		}
	}
	for _, name := range []string{
		api.Approve.ID, api.RejectApproval.ID, api.ApproveSoA.ID,
		api.CreateAPIKey.ID, api.InviteMember.ID, api.SignIn.ID, api.SignOut.ID, api.SignOutEverywhere.ID, api.ChangePassword.ID,
	} {
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{}}); err == nil {
			t.Errorf("%s can be called", name)
		}
	}
	if all[api.CreateAssessment.ID] == nil || all[api.DeleteAssessment.ID] == nil ||
		!*all[api.DeleteAssessment.ID].Annotations.DestructiveHint {
		t.Error("with --write, changes are not served, or deleting is not marked")
	}
}

func TestOnlyWhatOneMay(t *testing.T) {
	for name := range tools(
		t,
		session(
			t,
			Options{
				Client: newLocalClient(t), AllowWrites: true, Permissions: []api.Permission{"scf:read"}, ToolPatterns: []string{"list-*", "draft-*"},
			},
		),
	) {
		op, _ := api.OperationByID(name)
		if op.Permission != "" && op.Permission != "scf:read" || !strings.HasPrefix(name, "list-") {
			t.Errorf("%s is served to who may only read the catalog, and lists only", name)
		}
	}
}

// TestSchemas checks that each schema is valid and self-contained.
func TestSchemas(t *testing.T) {
	all := tools(t, session(t, Options{Client: newLocalClient(t), AllowWrites: true}))
	if len(all) < 120 {
		t.Errorf("only %d tools", len(all))
	}
	for name, one := range all {
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, one.InputSchema); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		op, _ := api.OperationByID(name)
		for _, p := range strings.Split(op.Path, "{")[1:] {
			parameter, _, _ := strings.Cut(p, "}")
			if _, there := one.InputSchema.(map[string]any)["properties"].(map[string]any)[parameter]; !there {
				t.Errorf("%s has no argument for %s", name, parameter)
			}
		}
	}
}

func TestACallIsACall(t *testing.T) {
	s := session(t, Options{Client: newLocalClient(t), AllowWrites: true})
	made, bad := callTool(t, s, api.CreateAssessment.ID, map[string]any{"name": "Yard", "framework_id": "iso-27001-2022"})
	if bad {
		t.Fatal(made)
	}
	got, bad := callTool(t, s, api.GetAssessment.ID, map[string]any{"assessmentId": made["id"]})
	if bad || got["name"] != "Yard" {
		t.Errorf("%v", got)
	}
	page, bad := callTool(t, s, api.ListControls.ID, nil)
	if bad || len(page["data"].([]any)) != defaultPageSize || page["pagination"].(map[string]any)["next_cursor"] == nil {
		t.Errorf("a list is not paged: %v", page["pagination"])
	}
	next, bad := callTool(t, s, api.ListControls.ID, map[string]any{"limit": 3, "cursor": page["pagination"].(map[string]any)["next_cursor"]})
	if bad || len(next["data"].([]any)) != 3 {
		t.Errorf("the next page: %v", next)
	}
	if _, bad := callTool(t, s, api.DeleteAssessment.ID, map[string]any{"assessmentId": made["id"]}); bad {
		t.Error("it can't be deleted")
	}
}

// TestErrorsAreAnswers checks that errors are returned with the engine's code and name the field.
func TestErrorsAreAnswers(t *testing.T) {
	s := session(t, Options{Client: newLocalClient(t), AllowWrites: true})
	for _, tc := range []struct {
		tool string
		args map[string]any
		want api.ErrorCode
	}{
		{api.GetAssessment.ID, map[string]any{"assessmentId": "01890000-0000-7000-8000-000000000000"}, api.CodeNotFound},
		{api.GetAssessment.ID, map[string]any{}, api.CodeValidation},
		{api.GetAssessment.ID, map[string]any{"assessmentId": ""}, api.CodeValidation},
		{api.GetAssessment.ID, map[string]any{"assessmentId": map[string]any{"a": 1}}, api.CodeValidation},
		{api.GetAssessment.ID, map[string]any{"assessmentId": "x", "approve": true}, api.CodeValidation},
		{api.GetAssessment.ID, map[string]any{"assessmentId": "../../users/me"}, api.CodeNotFound},
		{api.CreateAssessment.ID, map[string]any{"name": 7}, api.CodeValidation},
		{api.CreateAssessment.ID, map[string]any{}, api.CodeValidation},
		{api.ListAssessments.ID, map[string]any{"limit": -1}, api.CodeValidation},
		{api.ListAssessments.ID, map[string]any{"limit": "many"}, api.CodeValidation},
		{api.ListAssessments.ID, map[string]any{"cursor": "\x00"}, api.CodeValidation},
		{api.SearchKB.ID, map[string]any{"query": strings.Repeat("x", 1<<20)}, api.CodeValidation},
	} {
		got, bad := callTool(t, s, tc.tool, tc.args)
		if !bad || code(got) != string(tc.want) {
			t.Errorf("%s %.80v answers %.200v, not %s", tc.tool, tc.args, got, tc.want)
		}
	}
	// A transition that needs a decision names the decision, but can't make it.
	a, _ := callTool(t, s, api.CreateAssessment.ID, map[string]any{"name": "Gate", "framework_id": "lgpd"})
	if got, bad := callTool(t, s, api.Transition.ID, map[string]any{"assessmentId": a["id"], "target_state": "soa_approved"}); !bad ||
		code(got) != string(api.CodeInvalidState) {
		t.Errorf("%v", got)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	s := session(t, Options{Client: newLocalClient(t)})
	got, bad := callTool(t, s, api.GetCrosswalk.ID, map[string]any{"framework": "iso-27001-2022", "limit": 200})
	if b, _ := json.Marshal(got); len(b) > maxResultBytes {
		t.Errorf("%d bytes (error: %v)", len(b), bad)
	}
}
