package assessment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// AddComment adds a comment on a deliverable, one of its items, or an approval. It doesn't change
// what was submitted or approved.
func (s *Service) AddComment(ctx context.Context, by api.Caller, in *api.AddCommentInput) (*api.Comment, error) {
	text := strings.TrimSpace(in.Body.Text)
	if text == "" {
		return nil, api.Invalid("text", "the text of the comment is empty")
	}
	var out api.Comment
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		out = api.Comment{TenantRecord: newTenantRecord(tx, by), AssessmentID: a.ID, Author: by.Actor, Text: text}
		if err := setCommentTarget(tx, by, in, &a, &out); err != nil {
			return err
		}
		target := "the " + out.Gate.Title()
		if out.Item != nil {
			target = *out.Item + " in " + target
		}
		return errors.Join(store.Comments.Insert(tx, by.OrganizationID, &out), audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "comment.added", AssessmentID: a.ID, Summary: "commented on " + target,
			ResourceType: "comment", ResourceID: out.ID, Data: map[string]any{
				"comment_id": out.ID, "gate": out.Gate, "item": out.Item, "text_sha256": TextHash(text),
			},
		}))
	})
	return &out, err
}

// TextHash returns the hash by which the audit trail identifies a comment's text.
func TextHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// setCommentTarget sets which deliverable, item or approval the comment refers to.
func setCommentTarget(tx *store.Tx, by api.Caller, in *api.AddCommentInput, a *api.Assessment, c *api.Comment) error {
	b := in.Body
	c.Gate = b.Gate
	if b.ReplyTo != "" {
		to, err := getComment(tx, by, b.ReplyTo)
		if err == nil && to.AssessmentID != a.ID {
			err = api.NotFound("comment", b.ReplyTo)
		}
		if err != nil {
			return err
		}
		if b.Gate != "" && b.Gate != to.Gate || b.Item != "" || b.ApprovalID != "" {
			return api.Invalid("reply_to", "a reply inherits its target; omit gate, item and approval_id")
		}
		c.ReplyTo, c.Gate, c.Item, c.ApprovalID = &to.ID, to.Gate, to.Item, to.ApprovalID
	}
	if b.ApprovalID != "" {
		p, err := getApproval(tx, by, b.ApprovalID)
		if err == nil && p.AssessmentID != a.ID {
			err = api.NotFound("approval", b.ApprovalID)
		}
		if err != nil {
			return err
		}
		if b.Gate != "" && b.Gate != p.Gate {
			return api.Invalid("gate", "the approval is for the %s; specify that gate, or omit the gate", p.Gate.Title())
		}
		c.ApprovalID, c.Gate = &p.ID, p.Gate
	}
	if !slices.Contains(api.Gates, c.Gate) {
		return api.Invalid("gate", "specify the gate that the comment is about: %v", api.Gates)
	}
	head, err := deliverables[c.Gate].newestHeader(tx, a.OrganizationID, a.ID)
	if err != nil {
		return err
	}
	if head == nil {
		return api.Conflict("there is no %s to comment on yet", c.Gate.Title())
	}
	c.VersionNumber = head.VersionNumber
	if b.Item == "" {
		return nil
	}
	code, err := findItemCode(tx, by.OrganizationID, c.Gate, head.ID, b.Item)
	if err != nil {
		return err
	}
	if code == "" {
		return api.Invalid("item", "version %d of the %s has no item %q; specify a control code", head.VersionNumber, c.Gate.Title(), b.Item)
	}
	c.Item = &code
	return nil
}

// findItemCode returns the code of the item that ref refers to, or "" if there is none. ref is the code
// of a plan item, the code of a control, or an item's ID. The result is the plan item's code in the
// first case, and otherwise the control's code.
func findItemCode(tx *store.Tx, org string, gate api.Gate, version, ref string) (string, error) {
	if gate == api.GatePOAM {
		for i, err := range store.POAMItems.By("version").Scan(tx, org, store.Prefix(version)) {
			if err != nil || strings.EqualFold(i.POAMCode, ref) {
				return i.POAMCode, err
			}
		}
	}
	return deliverables[gate].findControlCode(tx, org, version, ref)
}

func (k deliverableType[V, I]) findControlCode(tx *store.Tx, org, version, ref string) (string, error) {
	for i, err := range k.items.By("version").Scan(tx, org, store.Prefix(version)) {
		if err != nil {
			return "", err
		}
		if it := k.item(&i); strings.EqualFold(it.ControlCode, ref) || it.ID == ref {
			return it.ControlCode, nil
		}
	}
	return "", nil
}

func getComment(tx *store.Tx, by api.Caller, id string) (api.Comment, error) {
	c, err := store.Comments.Get(tx, by.OrganizationID, id)
	return c, store.ToNotFound(err, "comment", id)
}

// GetComment returns a comment.
func (s *Service) GetComment(ctx context.Context, by api.Caller, in *api.CommentInput) (*api.Comment, error) {
	var c api.Comment
	err := s.db.View(ctx, func(tx *store.Tx) (err error) { c, err = getComment(tx, by, in.CommentID); return err })
	return &c, err
}

// ListComments lists comments, oldest first.
func (s *Service) ListComments(ctx context.Context, by api.Caller, in *api.CommentsInput) (*api.List[api.Comment], error) {
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return store.List(ctx, s.db, store.Comments, by.OrganizationID, in.Paging, store.PageQuery[api.Comment]{
		Index: "assessment", Prefix: store.K(in.AssessmentID),
		Filter: store.FilterIf(api.HasFilters(in), func(c *api.Comment) bool {
			return (in.Gate == "" || c.Gate == in.Gate) && (in.Item == "" || c.Item != nil && strings.EqualFold(*c.Item, in.Item)) &&
				(in.ApprovalID == "" || c.ApprovalID != nil && *c.ApprovalID == in.ApprovalID) &&
				(in.Mentions == "" || c.Mentions(in.Mentions))
		}),
	})
}
