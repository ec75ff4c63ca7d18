package officelayout

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
)

func TestExampleDocument(t *testing.T) {
	file, err := ExampleDocument()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(file, "docx")
	if err != nil {
		t.Fatal(err)
	}
	if all, tags := l.Problems(); len(all) > 0 || tags < 60 {
		t.Errorf("%d placeholders, problems: %v", tags, all)
	}
	var b bytes.Buffer
	v := content.New(reporttest.SampleSource(24), content.TemplateFull, "", false)
	if err := l.Write(context.Background(), &b, v.LayoutData(), drawing.Theme{}); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("OUT"); dir != "" {
		_ = os.WriteFile(dir+"/example.docx", file, 0o644)
		_ = os.WriteFile(dir+"/filled.docx", b.Bytes(), 0o644)
	}
}
