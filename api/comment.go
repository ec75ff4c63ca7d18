package api

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comment is a user's comment on a deliverable, on one of its items or on a pending decision. Comments
// are never changed or deleted; mistakes are corrected in a reply.
type Comment struct {
	TenantRecord
	AssessmentID  string  `json:"assessment_id"`
	Gate          Gate    `json:"gate"`
	VersionNumber int     `json:"version_number" doc:"The newest version at that time."`
	Item          *string `json:"item" doc:"The control's code, or the POA&M item's; null if it is about the whole deliverable."`
	ApprovalID    *string `json:"approval_id" doc:"The approval it is about, if any."`
	ReplyTo       *string `json:"reply_to" doc:"The comment it replies to."`
	Author        Actor   `json:"author"`
	Text          string  `json:"text"`
	CarriedFrom   string  `json:"carried_from" doc:"Name of the earlier assessment in which it was made; empty if it was made in this one."`
}

// CommentsInput is the input for listing the comments of an assessment, oldest first.
type CommentsInput struct {
	AssessmentInput
	Paging
	Gate       Gate   `query:"gate"`
	Item       string `query:"item" doc:"Only comments on this item, in any version."`
	ApprovalID string `query:"approval_id"`
	Mentions   string `query:"mentions" doc:"Only comments that mention this email address, as in @ada@acme.example."`
}

// Mentions reports whether the comment mentions a user, by "@" and the email address.
func (c *Comment) Mentions(email string) bool {
	text, name := strings.ToLower(c.Text), "@"+strings.ToLower(email)
	for {
		at := strings.Index(text, name)
		if at < 0 {
			return false
		}
		text = text[at+len(name):]
		if next, _ := utf8.DecodeRuneInString(text); text == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next) &&
			!strings.HasPrefix(text, "-") && !(len(text) > 1 && text[0] == '.' && isLetterOrDigit(text[1])) {
			return true
		}
	}
}

func isLetterOrDigit(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9'
}

// CommentInput identifies a comment.
type CommentInput struct {
	CommentID string `path:"commentId"`
}

// AddCommentInput is the input for adding a comment. For a reply or a comment on an approval, the
// subject is set automatically.
type AddCommentInput struct {
	AssessmentInput
	Body struct {
		Text       string `json:"text" minLength:"1" maxLength:"4000"`
		Gate       Gate   `json:"gate,omitempty" enum:"soa,gap_analysis,maturity,poam"`
		Item       string `json:"item,omitempty" maxLength:"100" doc:"A control's code, or a POA&M item's."`
		ApprovalID string `json:"approval_id,omitempty" minLength:"1"`
		ReplyTo    string `json:"reply_to,omitempty" minLength:"1"`
	}
}

// Operations on comments.
var (
	ListComments = Get[CommentsInput, List[Comment]](
		"list-comments", "/assessments/{assessmentId}/comments", "assessment:read", tagApproval,
		"List comments on deliverables, oldest first",
	)
	AddComment = Create[AddCommentInput, Comment](
		"add-comment", "/assessments/{assessmentId}/comments", CommentWrite, tagApproval,
		"Comment on a deliverable, an item or an approval",
	)
	GetComment = Get[CommentInput, Comment](
		"get-comment", "/comments/{commentId}", "assessment:read", tagApproval,
		"Get a comment",
	)
)
