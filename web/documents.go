package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// documentsPage is the data of the page of an assessment's documents.
type documentsPage struct {
	Assessment *api.Assessment
	Documents  []api.Document
	// Waiting is the number of documents that are still to be read.
	Waiting   int
	MayUpload bool
	// Refused are the files that were not accepted, with the reason.
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
	return v.render("documents.html", page.Assessment.Name+": Documents", page)
}

// uploadDocuments adds the files of the form one after another, as they arrive. Those that are refused are named
// on the page; they don't hold back the others.
func (v *visit) uploadDocuments() error {
	a, err := v.findAssessment()
	if err != nil {
		return err
	}
	if v.files == nil {
		return api.Invalid("file", "the form has no files; go back and choose some")
	}
	page, added := documentsPage{Assessment: a}, 0
	for {
		part, err := v.files.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return api.Invalid("file", "the upload was interrupted after %s; try again with the rest", prose.Count(added, "file", "files"))
		}
		if part.FormName() != "file" || part.FileName() == "" {
			continue
		}
		if err := v.CountFile(v.w, v.r, v.me.User.ID); err != nil {
			return err
		}
		content := &stoppableReader{reader: part}
		_, err = do(v, api.UploadDocument, &api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, File: api.UploadFile{Filename: part.FileName(), Content: content},
		})
		content.stop()
		switch e := api.AsError(err); {
		case err == nil:
			added++
		case e.Code == api.CodeUnauthorized || e.Code == api.CodeInternal:
			return err
		default:
			page.Refused = append(page.Refused, fact{part.FileName(), sentence(e.Message)})
		}
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

// readFilesForm begins to read a form with files: its first field has to be the token.
func (v *visit) readFilesForm() (isFiles bool, err error) {
	kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return false, nil
	}
	v.StreamBody(v.w, v.r)
	v.r.PostForm = url.Values{}
	if v.files, err = v.r.MultipartReader(); err != nil {
		return true, api.Invalid("", "the form can't be read: %v", err)
	}
	part, err := v.files.NextPart()
	if err != nil || part.FormName() != tokenField {
		return true, nil // refused for lack of the token
	}
	token, err := io.ReadAll(io.LimitReader(part, 200))
	v.r.PostForm.Set(tokenField, string(token))
	return true, err
}

// stoppableReader is a reader that isn't read any more once it is stopped. A call that was refused early may still
// be reading the file, while the next part of the form is read.
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
