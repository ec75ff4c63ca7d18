package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/internal/testutil/sockettest"
)

const orgID = "0190a000-0000-7000-8000-000000000001"

// eachTransport runs a test over every transport. Requests and responses must be the same.
func eachTransport(t *testing.T, h http.Handler, test func(t *testing.T, c *client.Client)) {
	plain, secure := httptest.NewServer(h), httptest.NewTLSServer(h)
	defer plain.Close()
	defer secure.Close()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	local := &http.Server{Handler: h}
	go func() { _ = local.Serve(l) }()
	defer local.Close()
	for name, o := range map[string]client.Options{
		"memory": {Transport: client.InMemoryTransport(h)},
		"http":   {BaseURL: plain.URL},
		"tls":    {BaseURL: secure.URL, Transport: secure.Client().Transport},
		"socket": {Transport: sockettest.Transport(path)},
	} {
		t.Run(name, func(t *testing.T) {
			o.Organization, o.Token = orgID, "service_live_x"
			c, err := client.New(o)
			if err != nil {
				t.Fatal(err)
			}
			test(t, c)
		})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func TestInputsTravel(t *testing.T) {
	eachTransport(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		answer(w, 200, map[string]any{"id": strings.Join([]string{
			r.Method, r.URL.RequestURI(), r.Header.Get(api.TenantHeader),
			r.Header.Get("Authorization"), r.Header.Get("If-Match"), string(b),
		}, " | ")})
	}), func(t *testing.T, c *client.Client) {
		in := &api.UpdateSoAItemInput{SoAItemID: "a/b c", Match: api.Match{IfMatch: `"3"`}}
		owner, applies := api.Some("Zoë"), api.NotApplicable
		in.Body.Owner, in.Body.Applicability = owner, &applies
		got, err := client.Do(t.Context(), c, api.UpdateSoAItem, in)
		if err != nil {
			t.Fatal(err)
		}
		want := `PATCH | /api/v1/soa/items/a%2Fb%20c | ` + orgID + ` | Bearer service_live_x | "3" | {"applicability":"not_applicable","owner":"Zoë"}`
		if got.ID != want {
			t.Errorf("arrived as\n%s\nnot\n%s", got.ID, want)
		}
		list, err := client.Do(t.Context(), c, api.GetAssessment, &api.AssessmentInput{})
		if !api.IsCode(err, api.CodeValidation) {
			t.Errorf("an empty path parameter gives %v, %v", list, err)
		}
	})
}

func TestErrorsTravel(t *testing.T) {
	eachTransport(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/plain") {
			http.Error(w, "bad gateway", http.StatusBadGateway)
			return
		}
		answer(w, 409, api.ErrorEnvelope{Error: api.ApprovalRequired(api.GateSoA, "ap-1", "approve it first")})
	}), func(t *testing.T, c *client.Client) {
		_, err := client.Do(t.Context(), c, api.GetAssessment, &api.AssessmentInput{AssessmentID: "x"})
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeApproval || *e.Details[0].ApprovalID != "ap-1" || e.Error() != "approve it first" {
			t.Errorf("arrived as %+v", err)
		}
		_, err = client.Do(t.Context(), c, api.GetAssessment, &api.AssessmentInput{AssessmentID: "plain"})
		if err == nil || errors.As(err, &e) && e.Code == "" || !strings.Contains(err.Error(), "502") {
			t.Errorf("a stranger's answer is %v", err)
		}
	})
}

// TestFilesTravel checks that files of any size are streamed unchanged in both directions.
func TestFilesTravel(t *testing.T) {
	content := bytes.Repeat([]byte("evidence "), 300_000)
	eachTransport(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(content)))
			w.Header().Set("Content-Disposition", `attachment; filename*=utf-8''R%C3%A9sum%C3%A9.pdf`)
			if strings.Contains(r.URL.Path, "altered") {
				_, _ = w.Write(append([]byte("Evidence"), content[8:]...))
				return
			}
			_, _ = w.Write(content)
			return
		}
		f, h, err := r.FormFile("file")
		if err != nil {
			answer(w, 400, api.ErrorEnvelope{Error: api.Invalid("file", "%v", err)})
			return
		}
		b, _ := io.ReadAll(f)
		answer(w, 201, map[string]any{"filename": h.Filename, "category": r.FormValue("category"), "size_bytes": len(b)})
	}), func(t *testing.T, c *client.Client) {
		in := &api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: "a"}, Category: "policy",
			File: api.UploadFile{Filename: "Résumé.pdf", Content: bytes.NewReader(content)},
		}
		doc, err := client.Do(t.Context(), c, api.UploadDocument, in)
		if err != nil || doc.Filename != "Résumé.pdf" || doc.Category != "policy" || doc.SizeBytes != int64(len(content)) {
			t.Errorf("%+v, %v", doc, err)
		}
		f, err := client.Do(t.Context(), c, api.DownloadDocument, &api.DocumentInput{DocumentID: "d"})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Content.Close()
		b, err := io.ReadAll(f.Content)
		if err != nil || !bytes.Equal(b, content) || f.Filename != "Résumé.pdf" ||
			f.SHA256 != fmt.Sprintf("%x", sha256.Sum256(content)) || f.ContentType != "application/pdf" {
			t.Errorf("%d bytes, %+v, %v", len(b), f, err)
		}
		f, err = client.Do(t.Context(), c, api.DownloadDocument, &api.DocumentInput{DocumentID: "altered"})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Content.Close()
		if _, err := io.ReadAll(f.Content); err == nil || !strings.Contains(err.Error(), "changed during the transfer") {
			t.Errorf("content that was altered on the way: %v", err)
		}
	})
}

// TestGivingUp checks that a canceled call returns immediately and that the handler's context is
// canceled.
func TestGivingUp(t *testing.T) {
	heard := make(chan struct{}, 8)
	eachTransport(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // a server notices a closed connection once the body is read
		<-r.Context().Done()
		heard <- struct{}{}
	}), func(t *testing.T, c *client.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := client.Do(ctx, c, api.GetHealth, &api.None{}); !errors.Is(err, context.Canceled) {
			t.Errorf("gave up with %v", err)
		}
	})
}

// TestFailingHandler checks that a response is cut off if its handler fails, so that it never looks complete.
func TestFailingHandler(t *testing.T) {
	c, err := client.New(client.Options{Transport: client.InMemoryTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ok": true, `))
		panic("boom")
	}))})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := client.Do(t.Context(), c, api.GetHealth, &api.None{}); err == nil {
		t.Errorf("half an answer was taken: %+v", got)
	}
}

func TestNobodyThere(t *testing.T) {
	c, err := client.New(client.Options{Transport: sockettest.Transport(filepath.Join(t.TempDir(), "nobody"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(t.Context(), c, api.GetHealth, &api.None{}); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"ftp://x", "service.example", "http://"} {
		if _, err := client.New(client.Options{BaseURL: bad}); err == nil {
			t.Errorf("%q was taken as an address", bad)
		}
	}
}

// TestAll checks that AllPages follows the cursors to the end.
func TestAll(t *testing.T) {
	pages := map[string]api.List[int]{"": {Data: []int{1, 2}}, "b": {Data: []int{3}}}
	next := "b"
	first := pages[""]
	first.Pagination.NextCursor = &next
	pages[""] = first
	got, err := client.AllPages(t.Context(), func(cursor string) (*api.List[int], error) { l := pages[cursor]; return &l, nil })
	if err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestEveryInputEncodes checks that every operation's input can be encoded, that its path is complete, and that
// nothing panics.
func TestEveryInputEncodes(t *testing.T) {
	c, err := client.New(
		client.Options{Organization: orgID, Transport: client.InMemoryTransport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, map[string]any{})
		}))},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range api.Operations() {
		var out map[string]any
		err := c.Call(t.Context(), op, nil, &out)
		if strings.Contains(op.Path, "{") == (err == nil) && op.Form != api.Upload {
			t.Errorf("%s without input: %v", op.ID, err)
		}
	}
}
