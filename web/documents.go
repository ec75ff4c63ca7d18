package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// documentsPage holds the data for the page of an assessment's documents.
type documentsPage struct {
	Assessment *api.Assessment
	Documents  []api.Document
	// Waiting is the number of documents that have not been read yet.
	Waiting   int
	MayUpload bool
	// Refused lists the files that were rejected, with the reasons.
	Refused []fact
}

func (v *visit) findAssessment() (*api.Assessment, error) {
	in := api.AssessmentInput{AssessmentID: v.r.PathValue("id")}
	return inOrganizationOf(v, func() (*api.Assessment, error) { return do(v, api.GetAssessment, &in) })
}

func (v *visit) showDocuments() error {
	a, err := v.findAssessment()
	if err != nil {
		return err
	}
	return v.renderDocuments(&documentsPage{Assessment: a})
}

func (v *visit) renderDocuments(page *documentsPage) (err error) {
	in := api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: page.Assessment.ID}, Sort: "filename"}
	if page.Documents, err = all(v, api.ListDocuments, &in); err != nil {
		return err
	}
	for i := range page.Documents {
		if s := page.Documents[i].Status; s == api.DocumentUploaded || s == api.DocumentProcessing {
			page.Waiting++
		}
	}
	page.MayUpload = v.may("document:write") && page.Assessment.State != api.StateClosed
	v.tabs, v.busy, v.live = assessmentTabs(page.Assessment, "documents"), page.Waiting > 0, "assessments/"+page.Assessment.ID+"/events"
	return v.render("documents.html", page.Assessment.Name+": Documents", page)
}

// uploadDocuments adds the form's files one after another, as they arrive. Rejected files are named on the page
// and don't prevent the others from being added.
func (v *visit) uploadDocuments() error {
	a, err := v.findAssessment()
	if err != nil {
		return err
	}
	if v.files == nil {
		return api.Invalid("file", "no files were selected; go back and choose at least one file")
	}
	page, added, path := documentsPage{Assessment: a}, 0, ""
	for {
		part, err := v.files.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return api.Invalid("file", "the upload was interrupted after %s; upload the remaining files again", prose.Count(added, "file", "files"))
		}
		if part.FormName() == "path" { // the path of the file that follows
			text, err := io.ReadAll(io.LimitReader(part, 4096))
			if err != nil {
				return api.Invalid("path", "the upload was interrupted; try again")
			}
			path = string(text)
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if err := v.CountFile(v.w, v.r, v.me.User.ID); err != nil {
			return err
		}
		content := &stoppableReader{reader: part}
		_, err = do(v, api.UploadDocument, &api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Path: path,
			File: api.UploadFile{Filename: part.FileName(), Content: content},
		})
		content.stop()
		path = ""
		switch e := api.AsError(err); {
		case err == nil:
			added++
		case e.Code == api.CodeUnauthorized || e.Code == api.CodeInternal:
			return err
		default:
			page.Refused = append(page.Refused, fact{part.FileName(), sentence(e.Message)})
		}
	}
	if v.r.Header.Get("Accept") == "text/plain" { // the page's script shows the response beside the file
		if len(page.Refused) > 0 {
			return v.answerScript(api.Invalid("", "%s", page.Refused[0].Text))
		}
		return v.answerScript(nil)
	}
	if added+len(page.Refused) == 0 {
		v.status, v.complaint = http.StatusBadRequest, "Choose at least one file."
		return v.renderDocuments(&page)
	}
	if len(page.Refused) > 0 {
		v.status = http.StatusBadRequest
		v.complaint = prose.Capitalize(prose.Count(added, "file was", "files were")) + " added. " +
			prose.Capitalize(prose.Count(len(page.Refused), "file was", "files were")) + " refused; see below."
		return v.renderDocuments(&page)
	}
	return v.redirect("assessments/" + a.ID + "/documents")
}

// documentPage holds the data for a document's page: its passages in order, around the selected one.
type documentPage struct {
	api.Document
	Assessment *api.Assessment
	Passages   []passage
	Facts      []fact
	// From and To are the numbers of the first and last passage shown, counting from 1. Before and After are
	// the passages at which the preceding and following parts begin, or -1 if there are none.
	From, To, Before, After int
	// OpensInline is set if browsers can display the original, at the given Page if the passage has one.
	// Fragment makes it highlight the quote.
	OpensInline         bool
	Page                int
	Fragment            string
	MayDelete, MayWrite bool
	Uses                []string // what rests on the document, in sentences
}

// passage is a passage on its document's page. Place is empty if it is the same as that of the previous
// passage.
type passage struct {
	api.Chunk
	Place    string
	Chosen   bool
	Segments []segment
}

// sheetTypes are the media types of documents whose passages are rows of sheets.
var sheetTypes = []string{
	"text/csv", "text/tab-separated-values", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel",
	"application/vnd.oasis.opendocument.spreadsheet",
}

// Original returns the URL for viewing the original. root is the relative URL of the start page. A PDF is opened at the
// page with the quote and fitted to the viewer's width.
func (p *documentPage) Original(root string) template.URL {
	address := root + "assessments/" + p.Assessment.ID + "/documents/" + p.ID + "/file?show"
	if p.PageCount > 0 && p.Page > 0 {
		address += fmt.Sprintf("#page=%d&view=FitH&navpanes=0", p.Page) + p.Fragment
	}
	return template.URL(address) //nolint:gosec // of IDs, a number and an escaped quote
}

// passagesShown is the number of passages per page.
const passagesShown = 60

// showDocument shows a document's passages, around the one given in the URL.
func (v *visit) showDocument() error {
	d, err := v.findDocument(v.r.PathValue("document"))
	if err != nil {
		return err
	}
	start, err := strconv.Atoi(cmp.Or(v.queryParam("from"), "0"))
	if err != nil {
		return api.Invalid("from", "%q is not a passage number", v.queryParam("from"))
	}
	return v.renderDocument(d, "", start)
}

// showPassage shows a passage in its document and highlights the quote given in the URL.
func (v *visit) showPassage() error {
	chunk, err := do(v, api.GetChunk, &api.ChunkInput{ChunkID: v.r.PathValue("chunk")})
	if err != nil {
		return err
	}
	d, err := v.findDocument(chunk.DocumentID)
	if err != nil {
		return err
	}
	return v.renderDocument(d, chunk.ID, max(0, chunk.Index-passagesShown/3))
}

// findDocument returns the page data of a document that belongs to the assessment given in the URL.
func (v *visit) findDocument(id string) (*documentPage, error) {
	a, err := v.findAssessment()
	if err != nil {
		return nil, err
	}
	d, err := do(v, api.GetDocument, &api.GetDocumentInput{DocumentInput: api.DocumentInput{DocumentID: id}})
	if err == nil && d.AssessmentID != a.ID {
		err = api.NotFound("document", id)
	}
	if err != nil {
		return nil, err
	}
	return &documentPage{Document: *d, Assessment: a}, nil
}

func (v *visit) renderDocument(page *documentPage, chosen string, start int) error {
	chunks, err := all(v, api.ListDocumentChunks, &api.DocumentChunksInput{DocumentInput: api.DocumentInput{DocumentID: page.ID}})
	if err != nil {
		return err
	}
	if page.Status == api.DocumentUploaded || page.Status == api.DocumentProcessing {
		v.busy, v.live = true, "assessments/"+page.Assessment.ID+"/events"
	}
	start = max(0, min(start, len(chunks)-1))
	end := min(len(chunks), start+passagesShown)
	page.From, page.To, page.Before, page.After = start+1, end, -1, -1
	if start > 0 {
		page.Before = max(0, start-passagesShown)
	}
	if end < len(chunks) {
		page.After = end
	}
	last := ""
	for _, c := range chunks[start:end] {
		p := passage{Chunk: c, Chosen: c.ID == chosen}
		if place := formatLocation(c.HeadingPath, c.Locator); place != last {
			p.Place, last = place, place
		}
		quote := ""
		if p.Chosen {
			page.Page, quote = c.Locator.Page, v.r.URL.Query().Get("quote")
			if strings.Contains(c.Text, quote) {
				page.Fragment = fragmentOf(quote)
			}
		}
		if slices.Contains(sheetTypes, page.MIMEType) {
			p.Segments = sheetSegments(c.Text, quote)
		} else {
			p.Segments = []segment{{Parts: markQuote(c.Text, quote)}}
		}
		page.Passages = append(page.Passages, p)
	}
	if page.OpensInline = page.MIMEType == "application/pdf"; page.OpensInline {
		v.policy = "frame-src 'self'; " // the original is shown beside its passages
	}
	for _, f := range []fact{
		{"Kind", prose.Label(page.Category)},
		{"Size", print.FormatSize(page.SizeBytes)},
		{"In force from", orEmpty(page.EffectiveDate)},
		{"Version", page.DocVersion},
		{"Owner", page.Owner},
		{"Approved by", page.ApprovedBy},
		{"SHA-256", page.SHA256},
	} {
		if f.Text != "" {
			page.Facts = append(page.Facts, f)
		}
	}
	open := page.Assessment.State != api.StateClosed
	page.MayDelete, page.MayWrite = v.may("document:delete") && open, v.may("document:write") && open
	if page.MayDelete && v.may("soa:read") {
		uses, err := do(v, api.GetDocumentUses, &api.DocumentInput{DocumentID: page.ID})
		if err != nil {
			return err
		}
		page.Uses = uses.Notes
	}
	return v.render("document.html", page.Filename, page)
}

// changeDocument deletes a document or reads it again.
func (v *visit) changeDocument() error {
	d, err := v.findDocument(v.r.PathValue("document"))
	if err != nil {
		return err
	}
	in := api.DocumentInput{DocumentID: d.ID}
	base := "assessments/" + d.Assessment.ID + "/documents"
	switch v.field("do") {
	case "delete":
		err = call(v, api.DeleteDocument, &in)
	case "read":
		base += "/" + d.ID
		err = call(v, api.ReprocessDocument, &in)
	default:
		return api.Invalid("do", "the form was not sent from this page; go back, reload the page and try again")
	}
	if err != nil {
		return v.refuse(err, v.showDocument)
	}
	return v.redirect(base)
}

// downloadDocument sends the original. The browser may display a PDF; everything else is sent as a download,
// because it could be a page with a script.
func (v *visit) downloadDocument() error {
	d, err := v.findDocument(v.r.PathValue("document"))
	if err != nil {
		return err
	}
	f, err := do(v, api.DownloadDocument, &api.DocumentInput{DocumentID: d.ID})
	if err != nil {
		return err
	}
	return v.sendFile(f, v.r.URL.Query().Has("show") && d.MIMEType == "application/pdf")
}

// readFilesForm starts reading a form with files, whose first field must be the token.
func (v *visit) readFilesForm() (isFiles bool, err error) {
	kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return false, nil
	}
	v.StreamBody(v.w, v.r)
	v.r.PostForm = url.Values{}
	if v.files, err = v.r.MultipartReader(); err != nil {
		return true, api.Invalid("", "the submitted form can't be read: %v", err)
	}
	part, err := v.files.NextPart()
	if err != nil || part.FormName() != tokenField {
		return true, nil // the form will be rejected because the token is missing
	}
	token, err := io.ReadAll(io.LimitReader(part, 200))
	v.r.PostForm.Set(tokenField, string(token))
	return true, err
}

// stoppableReader is a reader that fails once it has been stopped. Without it, a call that was rejected early
// could still be reading its file while the next part of the form is being read.
type stoppableReader struct {
	mu      sync.Mutex
	reader  io.Reader
	stopped bool
}

func (s *stoppableReader) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return 0, io.ErrClosedPipe
	}
	return s.reader.Read(p)
}

func (s *stoppableReader) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}
