package enginetest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// equalParts returns files of about n equal or tiny parts.
func equalParts(n int) fstest.MapFS {
	var sections, mail strings.Builder
	mail.WriteString("From: a@acme.example\r\nSubject: Parts\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n")
	for i := range n {
		fmt.Fprintf(&sections, "# Section %d\n\nb\n\n", i)
		if i < 10_000 {
			mail.WriteString("--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nThe gate is locked.\r\n")
		}
	}
	mail.WriteString("--b--\r\n")
	paragraph := strings.Repeat("The access rights of every person are reviewed once a quarter and recorded. ", 18)
	return fstest.MapFS{
		"rows.csv":       {Data: []byte("system;owner\n" + strings.Repeat("the ledger;Ada\n", 10*n))},
		"letters.md":     {Data: []byte(sections.String())},
		"paragraphs.txt": {Data: []byte(strings.Repeat(paragraph+"\n\n", n/8))},
		"parts.eml":      {Data: []byte(mail.String())},
	}
}

// TestDocumentsOfEqualParts checks that documents of very many equal parts are read, replaced and deleted without
// a transaction that exceeds its limits (see internal/testutil/updatelimit), and keep the IDs of their passages.
func TestDocumentsOfEqualParts(t *testing.T) {
	n := 3_000
	if longtest.Enabled() {
		n = 25_000
	}
	b, files := newBench(t), equalParts(n)
	a := b.assess(t, "lgpd", files, api.StateDraft)
	ctx := t.Context()
	read := func() map[string]api.Document {
		t.Helper()
		if err := b.Evidence.WaitForDocuments(ctx, b.by, a.ID); err != nil {
			t.Fatal(err)
		}
		list, err := b.Evidence.List(ctx, b.by, &api.DocumentsInput{AssessmentInput: assessmentInput(a.ID)})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]api.Document{}
		for _, d := range list.Data {
			out[d.Filename] = d
		}
		return out
	}
	ids := func(document string) (out []string) {
		t.Helper()
		page := api.Paging{Limit: api.MaxListLimit}
		for more := true; more; {
			l, err := b.Evidence.ListDocumentChunks(ctx, b.by, &api.DocumentChunksInput{
				DocumentInput: api.DocumentInput{DocumentID: document}, Paging: page,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range l.Data {
				out = append(out, c.ID)
			}
			if more = l.Pagination.HasMore; more {
				page.Cursor = *l.Pagination.NextCursor
			}
		}
		return out
	}
	docs := read()
	if len(docs) != len(files) {
		t.Fatalf("%d documents", len(docs))
	}
	before := map[string][]string{}
	for name, d := range docs {
		before[name] = ids(d.ID)
		distinct := slices.Compact(slices.Sorted(slices.Values(before[name])))
		if name != "parts.eml" && d.Status != api.DocumentIngested || d.Status == api.DocumentFailed && d.Error == nil ||
			len(distinct) != d.ChunkCount || len(before[name]) != d.ChunkCount || d.ChunkCount > 20_000 {
			t.Errorf("%s is %s with %d passages, of which %d have an id: %v", name, d.Status, d.ChunkCount, len(distinct), d.Error)
		}
	}
	// A new version with another paragraph in front moves all of them.
	letters := docs["letters.md"]
	_, err := b.Evidence.Upload(ctx, b.by, &api.UploadDocumentInput{
		AssessmentInput: assessmentInput(a.ID), Replaces: letters.ID,
		File: api.UploadFile{Filename: letters.Filename, Content: strings.NewReader("# Start\n\nNew.\n\n" + string(files["letters.md"].Data))},
	})
	if err != nil {
		t.Fatal(err)
	}
	if read(); n < 20_000 && !slices.Equal(ids(letters.ID)[1:], before["letters.md"]) {
		t.Error("the passages of the new version have other ids")
	}
	if _, err := b.Evidence.Reprocess(ctx, b.by, &api.DocumentInput{DocumentID: docs["paragraphs.txt"].ID}); err != nil {
		t.Fatal(err)
	}
	if docs = read(); !slices.Equal(ids(docs["paragraphs.txt"].ID), before["paragraphs.txt"]) {
		t.Error("read again, the equal paragraphs have other ids")
	}
	if _, err := b.Evidence.Delete(ctx, b.by, &api.DocumentInput{DocumentID: letters.ID}); err != nil {
		t.Fatal(err)
	}
	gone := api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	if _, err := b.Assessments.Delete(ctx, b.by, &gone); err != nil {
		t.Fatal(err)
	}
	if l, err := b.Evidence.ListChunks(ctx, b.by, &api.ChunksInput{}); err != nil || l.Pagination.Total != 0 {
		t.Errorf("%d passages are left, %v", l.Pagination.Total, err)
	}
}

func assessmentInput(assessment string) api.AssessmentInput {
	return api.AssessmentInput{AssessmentID: assessment}
}

// BenchmarkLongestTransaction reads, replaces and deletes a document of 4 MB of equal paragraphs, and reports the
// longest write transaction.
func BenchmarkLongestTransaction(b *testing.B) {
	w := newBench(b)
	a := w.assess(b, "lgpd", policy, api.StateSoADrafted) // the embedder is trained
	ctx := b.Context()
	var mu sync.Mutex
	var longest time.Duration
	w.ObserveTransactions(func(took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		longest = max(longest, took)
	})
	text := strings.Repeat(strings.Repeat("The access rights of every person are reviewed once a quarter and recorded. ", 18)+"\n\n", 2_900)
	for n := 0; b.Loop(); n++ {
		var document string
		for version := range 2 {
			content := fmt.Sprintf("Version %d.%d\n\n%s", n, version, text)
			d, err := w.Evidence.Upload(ctx, w.by, &api.UploadDocumentInput{
				AssessmentInput: assessmentInput(a.ID), Replaces: document,
				File: api.UploadFile{Filename: "equal.txt", Content: strings.NewReader(content)},
			})
			if err == nil {
				err = w.Evidence.WaitForDocuments(ctx, w.by, a.ID)
			}
			if err != nil {
				b.Fatal(err)
			}
			document = d.ID
		}
		if _, err := w.Evidence.Delete(ctx, w.by, &api.DocumentInput{DocumentID: document}); err != nil {
			b.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
}
