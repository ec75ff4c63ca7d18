package enginetest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/archive"
)

func (b *bench) comment(t *testing.T, assessment string, set func(*api.AddCommentInput)) (*api.Comment, error) {
	t.Helper()
	in := &api.AddCommentInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}}
	in.Body.Text = " Who asked for this? "
	set(in)
	return b.Assessments.AddComment(t.Context(), b.by, in)
}

// TestComments checks that comments don't change deliverables and their decisions, and that they
// are in the archive and the audit chain.
func TestComments(t *testing.T) {
	b, a, p := atSoAReview(t)
	code := b.soaItems(t, a.ID)[0].ControlCode
	on, err := b.comment(t, a.ID, func(in *api.AddCommentInput) { in.Body.Gate, in.Body.Item = api.GateSoA, strings.ToLower(code) })
	if err != nil || *on.Item != code || on.VersionNumber != 1 || on.Text != "Who asked for this?" || on.Author.Name != b.by.Actor.Name {
		t.Fatalf("%+v, %v", on, err)
	}
	reply, err := b.comment(t, a.ID, func(in *api.AddCommentInput) { in.Body.ReplyTo = on.ID })
	if err != nil || *reply.Item != code || reply.Gate != api.GateSoA || *reply.ReplyTo != on.ID {
		t.Fatalf("%+v, %v", reply, err)
	}
	of, err := b.comment(t, a.ID, func(in *api.AddCommentInput) { in.Body.ApprovalID = p.ID })
	if err != nil || *of.ApprovalID != p.ID || of.Item != nil {
		t.Fatalf("%+v, %v", of, err)
	}
	other := b.assess(t, "lgpd", nil, api.StateDraft)
	for what, c := range map[string]struct {
		at   string
		set  func(*api.AddCommentInput)
		code api.ErrorCode
	}{
		"of nothing": {a.ID, func(*api.AddCommentInput) {}, api.CodeValidation},
		"no words": {
			a.ID,
			func(in *api.AddCommentInput) { in.Body.Gate, in.Body.Text = api.GateSoA, " \n" },
			api.CodeValidation,
		},
		"no such line": {
			a.ID,
			func(in *api.AddCommentInput) { in.Body.Gate, in.Body.Item = api.GateSoA, "XYZ-99" },
			api.CodeValidation,
		},
		"what is not drafted": {a.ID, func(in *api.AddCommentInput) { in.Body.Gate = api.GatePOAM }, api.CodeInvalidState},
		"another gate's approval": {
			a.ID,
			func(in *api.AddCommentInput) { in.Body.Gate, in.Body.ApprovalID = api.GatePOAM, p.ID },
			api.CodeValidation,
		},
		"a reply elsewhere":            {a.ID, func(in *api.AddCommentInput) { in.Body.ReplyTo, in.Body.Item = on.ID, code }, api.CodeValidation},
		"another assessment's comment": {other.ID, func(in *api.AddCommentInput) { in.Body.ReplyTo = on.ID }, api.CodeNotFound},
		"another one's approval":       {other.ID, func(in *api.AddCommentInput) { in.Body.ApprovalID = p.ID }, api.CodeNotFound},
	} {
		_, err := b.comment(t, c.at, c.set)
		wantCode(t, what, err, c.code)
	}
	list := func(in api.CommentsInput) int {
		in.AssessmentID = a.ID
		l, err := b.Assessments.ListComments(t.Context(), b.by, &in)
		if err != nil {
			t.Fatal(err)
		}
		return len(l.Data)
	}
	n, item := list(api.CommentsInput{}), list(api.CommentsInput{Item: code})
	approval, gap := list(api.CommentsInput{ApprovalID: p.ID}), list(api.CommentsInput{Gate: api.GateGapAnalysis})
	if n != 3 || item != 2 || approval != 1 || gap != 0 {
		t.Errorf("%d comments, %d of the line, %d of the approval, %d of another gate", n, item, approval, gap)
	}
	if err := b.approve(t, p.ID); err != nil {
		t.Errorf("a comment voids an approval: %v", err)
	}

	whole := b.export(t, a.ID)
	if r, err := archive.Verify(bytes.NewReader(whole), int64(len(whole))); err != nil || !r.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err := archive.Verify(
		rewriteArchive(t, whole, "comments.jsonl", func(_, text string) (string, bool) { return strings.Replace(text, "Who", "How", 1), true }),
	)
	if err != nil || r.OK ||
		!strings.Contains(r.Findings[len(r.Findings)-2].Subject+r.Findings[len(r.Findings)-1].Subject, "comment "+on.ID) {
		t.Errorf("other words are not found: %+v, %v", r, err)
	}
	other2 := *b
	other2.by.OrganizationID = "01890000-0000-7000-8000-000000000001"
	if _, err := other2.Assessments.GetComment(t.Context(), other2.by, &api.CommentInput{CommentID: on.ID}); !api.IsCode(
		err,
		api.CodeNotFound,
	) {
		t.Errorf("another organization reads it: %v", err)
	}
}
