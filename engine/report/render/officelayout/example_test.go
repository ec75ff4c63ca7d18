package officelayout

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/reporttest"
)

// TestExamplePresentation checks that the example has no problems, and that slides are repeated and left out.
func TestExamplePresentation(t *testing.T) {
	file, err := ExamplePresentation()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(file, "pptx")
	if err != nil {
		t.Fatal(err)
	}
	if all, tags := l.Problems(); len(all) > 0 || tags < 40 {
		t.Errorf("%d placeholders, problems: %v", tags, all)
	}
	for name, s := range reporttest.Sources(false) {
		d := content.New(s, content.TemplateFull, "", false).LayoutData()
		grave := 0
		for _, r := range d.Risks {
			if r.Severity == "critical" || r.Severity == "high" {
				grave = min(grave+1, 4)
			}
		}
		want := 5 + grave
		if d.Charts.HeatMap != nil {
			want++
		}
		if d.Charts.MaturityRadar != nil {
			want++
		}
		var b, again bytes.Buffer
		for _, to := range []*bytes.Buffer{&b, &again} {
			if err := l.Write(context.Background(), to, d, drawing.Theme{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: differs from one time to the next", name)
		}
		if dir := os.Getenv("OUT"); dir != "" {
			_ = os.WriteFile(dir+"/"+strings.ReplaceAll(name, " ", "-")+".pptx", b.Bytes(), 0o644)
		}
		parts, slides := reporttest.UnzipParts(t, b.Bytes()), 0
		reporttest.CheckParts(t, name, parts)
		for part, text := range parts {
			if strings.HasPrefix(part, "ppt/slides/slide") {
				slides++
			}
			if !strings.HasSuffix(part, ".png") && strings.Contains(text, "{{") && name != "hostile" {
				t.Errorf("%s: %s still has a placeholder", name, part)
			}
		}
		if n := strings.Count(parts["ppt/presentation.xml"], "<p:sldId "); slides != want || n != want {
			t.Errorf("%s: %d slides, %d listed, want %d", name, slides, n, want)
		}
		if n := strings.Count(parts[typesPart], "presentationml.slide+xml"); n != want {
			t.Errorf("%s: %d types of slides, want %d", name, n, want)
		}
	}
}

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
