package api

// Comment is what a person said of a deliverable, of a line of it, or of the decision that
// waits. It is never changed or taken back: who erred says so in a reply.
type Comment struct {
	TenantRecord
	AssessmentID  string  `json:"assessment_id"`
	Gate          Gate    `json:"gate"`
	VersionNumber int     `json:"version_number" doc:"The version that was the newest."`
	Item          *string `json:"item" doc:"The control's code, or the POA&M item's; null where it is of the whole."`
	ApprovalID    *string `json:"approval_id" doc:"The approval it is of, where it is of one."`
	ReplyTo       *string `json:"reply_to" doc:"The comment it answers."`
	Author        Actor   `json:"author"`
	Text          string  `json:"text"`
}

// CommentsInput lists the comments of an assessment, oldest first.
type CommentsInput struct {
	AssessmentInput
	Paging
	Gate       Gate   `query:"gate"`
	Item       string `query:"item" doc:"Only of this line, of whatever version."`
	ApprovalID string `query:"approval_id"`
}

// CommentInput names a comment.
type CommentInput struct {
	CommentID string `path:"commentId"`
}

// AddCommentInput says something. What a reply or a comment on an approval is of is known.
type AddCommentInput struct {
	AssessmentInput
	Body struct {
		Text       string `json:"text" minLength:"1" maxLength:"4000"`
		Gate       Gate   `json:"gate,omitempty" enum:"soa,gap_analysis,maturity,poam"`
		Item       string `json:"item,omitempty" maxLength:"100" doc:"A control's code, or a POA&M item's."`
		ApprovalID string `json:"approval_id,omitempty"`
		ReplyTo    string `json:"reply_to,omitempty"`
	}
}

// Operations on comments.
var (
	ListComments = Get[CommentsInput, List[Comment]](
		"list-comments",
		"/assessments/{assessmentId}/comments",
		WithPermission("assessment:read"),
		WithTag(tagApproval),
		WithSummary("List what was said of deliverables, oldest first"),
	)
	AddComment = Create[AddCommentInput, Comment](
		"add-comment",
		"/assessments/{assessmentId}/comments",
		WithPermission("assessment:write"),
		WithTag(tagApproval),
		WithSummary("Comment on a deliverable, a line or an approval"),
	)
	GetComment = Get[CommentInput, Comment](
		"get-comment",
		"/comments/{commentId}",
		WithPermission("assessment:read"),
		WithTag(tagApproval),
		WithSummary("Read a comment"),
	)
)
