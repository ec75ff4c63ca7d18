package officelayout

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/render/pptx"
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
		hasChart := strings.Contains(parts["ppt/charts/report-chart1.xml"], "<c:radarChart>") &&
			parts["ppt/embeddings/report-chart1.xlsx"] != "" && strings.Contains(parts[typesPart], "/ppt/charts/report-chart1.xml")
		if hasChart != (d.Charts.MaturityRadar != nil) {
			t.Errorf("%s: has a chart with its numbers: %t", name, hasChart)
		}
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

// TestChartsOfSlides checks that the charts that slides can have as their own have numbers, that the others are refused
// with advice, and that a layout that is itself a report keeps its charts.
func TestChartsOfSlides(t *testing.T) {
	v := content.New(reporttest.SampleSource(24), content.TemplateFull, "", false)
	data := v.LayoutData()
	charts := reflect.ValueOf(data.Charts)
	for i := range charts.NumField() {
		name := charts.Type().Field(i).Tag.Get("json")
		image := charts.Field(i).Interface().(*content.LayoutImage)
		if has := image != nil && image.Chart != nil; has != slices.Contains(content.NativeCharts, name) {
			t.Errorf("%s: has numbers: %t", name, has)
		}
	}
	layout := func(chart string) []byte {
		var b bytes.Buffer
		err := pptx.Write(&b, pptx.Document{Slides: []content.Slide{
			{Title: "{{#if draft}}DRAFT{{/if}}", Texts: []content.SlideText{{Text: "{{chart " + chart + "}}"}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	l, err := Read(layout("charts.heat_map"), "pptx")
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := l.Problems(); len(all) != 1 || all[0].Suggestion != "write {{image charts.heat_map}} to insert the chart as a picture" {
		t.Errorf("problems: %+v", all)
	}
	var first, second bytes.Buffer
	if err := Write(t.Context(), &first, layout("charts.coverage"), "pptx", v); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), &second, first.Bytes(), "pptx", v); err != nil {
		t.Fatal(err)
	}
	parts := reporttest.UnzipParts(t, second.Bytes())
	reporttest.CheckParts(t, "a report as layout", parts)
	if n := strings.Count(parts[typesPart], `PartName="/ppt/charts/report-chart1.xml"`); n != 1 {
		t.Errorf("%d types of the chart", n)
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
