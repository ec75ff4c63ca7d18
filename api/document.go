package api

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// DocumentState is the processing state of a document.
type DocumentState string

// The states of a document.
const (
	DocumentUploaded   DocumentState = "uploaded"
	DocumentProcessing DocumentState = "processing"
	DocumentIngested   DocumentState = "ingested"
	DocumentFailed     DocumentState = "failed"
)

// Document is a file of evidence.
type Document struct {
	TenantRecord
	AssessmentID string `json:"assessment_id"`
	Filename     string `json:"filename"`
	// Path is the file's path within the uploaded folder, starting with the folder's name.
	Path          string        `json:"path" doc:"The file's path within the uploaded folder, starting with the folder's name; empty if it was uploaded on its own."`
	Category      string        `json:"category"`
	MIMEType      string        `json:"mime_type"`
	SizeBytes     int64         `json:"size_bytes"`
	SHA256        string        `json:"sha256"`
	Title         string        `json:"title"`
	Language      string        `json:"language"`
	PageCount     int           `json:"page_count"`
	EffectiveDate *Date         `json:"effective_date"`
	DocVersion    string        `json:"document_version"`
	Owner         string        `json:"owner"`
	ApprovedBy    string        `json:"approved_by"`
	Status        DocumentState `json:"status"`
	Error         *string       `json:"error"`
	Warnings      []string      `json:"warnings"`
	NotRead       []NotRead     `json:"not_read" doc:"What the document contains that was not read as text, by kind and place."`
	// Outdated is derived from the readers that read the document, and not stored.
	Outdated   bool   `json:"outdated" doc:"Whether this version of the program would read the document differently. Process it again to bring it up to date."`
	ChunkCount int    `json:"chunk_count"`
	UploadedBy string `json:"uploaded_by"`

	existed bool
}

// NotInForceWarning is the prefix of the warning about a document that is marked as a draft, superseded or withdrawn.
const NotInForceWarning = "The document says that it is not in force"

// IsNotInForce reports whether the document is marked as a draft, superseded or withdrawn.
func (d *Document) IsNotInForce() bool {
	return slices.ContainsFunc(d.Warnings, func(w string) bool { return strings.HasPrefix(w, NotInForceWarning) })
}

// The kinds of document content that the program does not read.
const (
	UnreadHiddenText   = "hidden_text" // hidden by its own format, a style, its color or its position
	UnreadStruckText   = "struck_text"
	UnreadDeletedText  = "deleted_text" // text in a tracked deletion
	UnreadHiddenRow    = "hidden_row"
	UnreadHiddenColumn = "hidden_column"
	UnreadHiddenSheet  = "hidden_sheet"
	UnreadHiddenSlide  = "hidden_slide"
	UnreadPicture      = "picture"
	UnreadChart        = "chart"
	UnreadDiagram      = "diagram"
	UnreadComment      = "comment"
	UnreadEmbeddedFile = "embedded_file"
	UnreadInsertedPart = "inserted_part" // another document that programs show as part of this one
	UnreadPage         = "page_without_text"
	UnreadUnmappedText = "unmapped_text" // text whose font doesn't specify its letters
	UnreadRuby         = "ruby"          // pronunciation hints, in small letters above the text
	UnreadEncodedText  = "encoded_text"  // bytes encoded as letters, such as Base64
	UnreadCode         = "code"          // raw markup, data or program code in the text
	UnreadFormula      = "formula_without_value"
	UnreadPrompt       = "empty_field" // a prompt in a form field that nobody has filled in
	UnreadFormField    = "form_field"  // a form field whose value can't be read
	// UnreadOtherLanguage is a passage in a language that the rules don't read.
	UnreadOtherLanguage = "other_language"
)

// NotRead counts the content of one kind that was not read.
type NotRead struct {
	Kind    string  `json:"kind" doc:"For example hidden_text, struck_text, hidden_row, picture, comment, embedded_file or other_language."`
	Count   int     `json:"count"`
	Locator Locator `json:"locator" doc:"The first place; empty if unknown."`
	// Language is the language of passages of the kind other_language.
	Language string `json:"language" doc:"ISO 639-1 code of the language of passages if kind is other_language; otherwise empty."`
}

// notReadNames maps each kind of unread content to its singular and plural names. Unlisted kinds are displayed under
// their own name.
var notReadNames = map[string][2]string{
	UnreadHiddenText:   {"hidden text", "hidden texts"},
	UnreadStruckText:   {"struck-through text", "struck-through texts"},
	UnreadDeletedText:  {"deleted text", "deleted texts"},
	UnreadHiddenRow:    {"hidden row", "hidden rows"},
	UnreadHiddenColumn: {"hidden column", "hidden columns"},
	UnreadHiddenSheet:  {"hidden sheet", "hidden sheets"},
	UnreadHiddenSlide:  {"hidden slide", "hidden slides"},
	UnreadPicture:      {"picture", "pictures"},
	UnreadChart:        {"chart", "charts"},
	UnreadDiagram:      {"diagram", "diagrams"},
	UnreadComment:      {"comment", "comments"},
	UnreadEmbeddedFile: {"embedded file", "embedded files"},
	UnreadInsertedPart: {"inserted part", "inserted parts"},
	UnreadPage:         {"page without text", "pages without text"},
	UnreadUnmappedText: {"text in an unreadable font", "texts in unreadable fonts"},
	UnreadRuby:         {"pronunciation above letters", "pronunciations above letters"},
	UnreadEncodedText:  {"encoded text", "encoded texts"},
	UnreadCode:         {"piece of code", "pieces of code"},
	UnreadFormula:      {"formula without a stored value", "formulas without a stored value"},
	UnreadPrompt:       {"empty form field", "empty form fields"},
	UnreadFormField:    {"form field", "form fields"},
}

// SumNotRead returns the totals by kind and language, without locations, in the order in which they first occur.
func SumNotRead(list []NotRead) []NotRead {
	out := []NotRead{}
	for _, n := range list {
		i := slices.IndexFunc(out, func(o NotRead) bool { return o.Kind == n.Kind && o.Language == n.Language })
		if i < 0 {
			i, out = len(out), append(out, NotRead{Kind: n.Kind, Language: n.Language})
		}
		out[i].Count += n.Count
	}
	return out
}

// DescribeNotRead lists the content that was not read, such as "3 pictures, 1 comment". It returns "" if
// everything was read.
func DescribeNotRead(list []NotRead) string {
	var parts []string
	for _, n := range SumNotRead(list) {
		if n.Kind == UnreadOtherLanguage {
			n.Kind = "passages in " + LanguageName(n.Language)
			if n.Count == 1 {
				n.Kind = "passage in " + LanguageName(n.Language)
			}
		}
		name := strings.ReplaceAll(n.Kind, "_", " ")
		if names, ok := notReadNames[n.Kind]; ok {
			if name = names[1]; n.Count == 1 {
				name = names[0]
			}
		}
		parts = append(parts, strconv.Itoa(n.Count)+" "+name)
	}
	return strings.Join(parts, ", ")
}

// IsForeignLanguage reports whether a document is known not to be in English, the only language that the rules
// support.
func (d *Document) IsForeignLanguage() bool {
	return d.Status == DocumentIngested && d.Language != "" && d.Language != "und" && d.Language != "en"
}

// DocumentProgress is a document's status and processing stage.
type DocumentProgress struct {
	DocumentID string        `json:"document_id"`
	Status     DocumentState `json:"status"`
	Stage      string        `json:"stage" enum:"queued,parse,chunk,embed,index,done"`
	Progress   int           `json:"progress"`
	Error      *string       `json:"error"`
	ChunkCount int           `json:"chunk_count"`
}

// Chunk is a passage of a document, with its location.
type Chunk struct {
	ID             string   `json:"id"`
	OrganizationID string   `json:"organization_id"`
	DocumentID     string   `json:"document_id"`
	AssessmentID   string   `json:"assessment_id"`
	Index          int      `json:"index"`
	Text           string   `json:"text"`
	HeadingPath    []string `json:"heading_path"`
	Locator        Locator  `json:"locator"`
	Kind           string   `json:"kind"`
	TokenEstimate  int      `json:"token_estimate"`
	SHA256         string   `json:"sha256"`
	// The two times are not stored, because they can be derived from the ID.
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	// DuplicateOf is a nearly identical passage of an earlier document, or null if there is none.
	DuplicateOf *string `json:"duplicate_of" doc:"A nearly identical passage of an earlier document; null if there is none."`
}

// DocumentInput identifies a document.
type DocumentInput struct {
	DocumentID string `path:"documentId"`
}

// GetDocumentInput identifies a document whose record is read.
type GetDocumentInput struct {
	DocumentInput
	Waiting
}

// DocumentsInput is the input for listing the documents of an assessment.
type DocumentsInput struct {
	AssessmentInput
	Paging
	Status   DocumentState `query:"status"`
	Category string        `query:"category"`
	Q        string        `query:"q" doc:"Part of the file name or title."`
	Sort     string        `query:"sort" sort:"filename,title,category,status,size_bytes,created_at,updated_at" doc:"Sort order; prefix a field with - for descending."`
}

// DocumentUses describes the items and corrections that rely on a document.
type DocumentUses struct {
	Versions    []DocumentUse `json:"versions" doc:"The newest and the approved Statement of Applicability, if they quote the document."`
	Corrections int           `json:"corrections" doc:"Number of corrections of its passages in this assessment."`
	Notes       []string      `json:"notes" doc:"The same in sentences, to be shown before the document is deleted."`
}

// DocumentUse describes the items that rely on a document in one version of the Statement of Applicability.
type DocumentUse struct {
	SoAVersionID  string        `json:"soa_version_id"`
	VersionNumber int           `json:"version_number"`
	Status        VersionStatus `json:"status"`
	QuotedBy      []string      `json:"quoted_by" doc:"Codes of the controls whose items quote the document."`
	OnlySourceOf  []string      `json:"only_source_of" doc:"Codes of those whose verdict rests on this document alone."`
}

// UploadDocumentInput is the input for adding a document to an assessment.
type UploadDocumentInput struct {
	AssessmentInput
	File     UploadFile `form:"file"`
	Category string     `form:"category" doc:"policy, procedure, record, register, report, contract, …; guessed if omitted."`
	Path     string     `form:"path" doc:"The file's path within its folder, starting with the folder's name."`
	Replaces string     `form:"replaces" doc:"The id of the document to replace, by a new version or under a new name. It keeps its id, its category and any unchanged passages."`
}

// DocumentChunksInput is the input for listing the passages of a document.
type DocumentChunksInput struct {
	DocumentInput
	Paging
}

const tagDocument = "Documents"

// Operations on documents, defined in section 4.7 of the API specification.
var (
	ListDocuments = Get[DocumentsInput, List[Document]](
		"list-documents", "/assessments/{assessmentId}/documents", "document:read", tagDocument,
		"List the documents of an assessment",
	)
	UploadDocument = Create[UploadDocumentInput, Document](
		"upload-document", "/assessments/{assessmentId}/documents", "document:write", tagDocument,
		"Upload a document; it is processed in the background", WithBodyEncoding(Upload),
	)
	GetDocument = Get[GetDocumentInput, Document](
		"get-document", "/documents/{documentId}", "document:read", tagDocument,
		"Get a document's record",
	)
	DeleteDocument = Delete[DocumentInput](
		"delete-document", "/documents/{documentId}", "document:delete", tagDocument,
		"Delete a document and its passages",
	)
	GetDocumentStatus = Get[GetDocumentInput, DocumentProgress](
		"get-document-status", "/documents/{documentId}/status", "document:read", tagDocument,
		"Get a document's processing status",
	)
	GetDocumentUses = Get[DocumentInput, DocumentUses](
		"get-document-uses", "/documents/{documentId}/uses", "soa:read", tagDocument,
		"List the items that quote a document, and the corrections of its passages",
	)
	ListDocumentChunks = Get[DocumentChunksInput, List[Chunk]](
		"list-document-chunks", "/documents/{documentId}/chunks", "document:read", tagDocument,
		"List a document's passages",
	)
	DownloadDocument = Get[DocumentInput, File](
		"download-document", "/documents/{documentId}/download", "document:read", tagDocument,
		"Download the original file", WithBodyEncoding(Download),
	)
	ReprocessDocument = Post[DocumentInput, Document](
		"reprocess-document", "/documents/{documentId}/reprocess", "document:write", tagDocument,
		"Process a document again", WithStatus(202),
	)
)

// MarkExisted records that an upload matched an existing document, so that the response has status 200
// instead of 201.
func (d *Document) MarkExisted() { d.existed = true }

// Existed reports whether MarkExisted was called: the upload matched an existing document.
func (d *Document) Existed() bool { return d.existed }
