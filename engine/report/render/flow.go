package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/drawing"
)

// How many of each a flow tells apart; the rest is one.
const (
	flowFrameworks = drawing.Streams
	flowDomains    = 12
	flowDocuments  = 12
	noEvidence     = "No evidence"
)

// domainFlow is what a domain's applicable controls are asked by, and shown by.
type domainFlow struct {
	code           string
	controls, seen int
	frameworks     map[string]int
	documents      map[string]int
}

// flows count, by domain, each control once for each framework and each document.
func (v *view) flows() []domainFlow {
	by := map[string]*domainFlow{}
	names := map[string]string{}
	for _, f := range v.Frameworks {
		names[f.Code] = or(f.Name, f.Code)
	}
	for i := range v.SoAItems {
		it := &v.SoAItems[i]
		if !it.Applicability.In() {
			continue
		}
		d := by[it.DomainCode]
		if d == nil {
			d = &domainFlow{code: it.DomainCode, frameworks: map[string]int{}, documents: map[string]int{}}
			by[it.DomainCode] = d
		}
		d.controls++
		for code, reqs := range it.RequirementCodes {
			if len(reqs) > 0 && names[code] != "" {
				d.frameworks[names[code]]++
			}
		}
		docs := documentNames(it.Evidence)
		if len(docs) > 0 {
			d.seen++
		}
		for _, name := range docs {
			d.documents[name]++
		}
	}
	out := make([]domainFlow, 0, len(by))
	for _, code := range sortedKeys(by) {
		out = append(out, *by[code])
	}
	slices.SortFunc(out, func(a, b domainFlow) int { return scf.Natural(a.code, b.code) })
	return out
}

// documentNames are the documents of passages, each once.
func documentNames(all []api.Evidence) (out []string) {
	for _, e := range all {
		if name := or(e.Filename, e.DocumentTitle); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// flowBlocks are the way from frameworks over controls to evidence, as a table and a picture.
func (v *view) flowBlocks() []block {
	all := v.flows()
	if len(all) == 0 {
		return nil
	}
	t := table{Caption: "From framework over controls to evidence, by domain", Columns: []column{
		{Name: "Domain", Width: 6}, {Name: "Applicable controls", Width: 3, Number: true}, {Name: "With evidence", Width: 3, Number: true}, {Name: "Without", Width: 3, Number: true},
		{Name: "Controls asked for by", Width: 9}, {Name: "Controls shown by", Width: 13},
	}}
	for _, d := range all {
		t.Rows = append(t.Rows, row{Cells: []cell{free(v.domain(d.code)), number(d.controls), number(d.seen), number(d.controls - d.seen), counted(d.frameworks, "\n"), counted(d.documents, ", ")}})
	}
	return []block{heading{ID: v.anchors.add("coverage", "flow"), Text: "From framework to evidence"}, t, v.flowPicture(all)}
}

// counted is names with their numbers, the largest first.
func counted(n map[string]int, between string) cell {
	var out []string
	for _, name := range largest(n) {
		out = append(out, fmt.Sprintf("%s: %s", name, count(n[name])))
	}
	if len(out) == 0 {
		return plain("–")
	}
	return prose(strings.Join(out, between))
}

func largest(n map[string]int) []string {
	names := sortedKeys(n)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(n[b], n[a]) })
	return names
}

// stage is a column of a flow: names from top to bottom with how much goes through.
type stage struct {
	names []string
	size  map[string]float64
	y     map[string]float64
	in    map[string]float64 // how much of a node's left side is taken
	out   map[string]float64
	// told are the numbers beside the names, where they are not the sizes.
	told map[string]int
}

// newStage takes the largest; what a name is in the flow is told by as.
func newStage(n map[string]int, most int, rest string) (s stage, as func(string) string) {
	names := largest(n)
	if len(names) > most {
		names = append(names[:most-1:most-1], rest)
	}
	s = stage{names: names, size: map[string]float64{}, y: map[string]float64{}, in: map[string]float64{}, out: map[string]float64{}}
	return s, func(name string) string {
		if slices.Contains(names, name) {
			return name
		}
		return rest
	}
}

type stream struct {
	from, to string
	n        float64
}

// flowPicture draws the table as streams as wide as the controls they stand for.
func (v *view) flowPicture(all []domainFlow) picture {
	frameworks, domains, documents := map[string]int{}, map[string]int{}, map[string]int{}
	for _, d := range all {
		domains[v.domain(d.code)] += d.controls
		for f, n := range d.frameworks {
			frameworks[f] += n
		}
		for f, n := range d.documents {
			documents[f] += n
		}
		if d.controls > d.seen {
			documents[noEvidence] += d.controls - d.seen
		}
	}
	left, asFramework := newStage(frameworks, flowFrameworks, "Other frameworks")
	middle, asDomain := newStage(domains, flowDomains, "Other domains")
	right, asDocument := newStage(documents, flowDocuments, "Other documents")
	if i := slices.Index(right.names, noEvidence); i >= 0 { // it stands last, whatever its size
		right.names = append(slices.Delete(right.names, i, i+1), noEvidence)
	} else if documents[noEvidence] > 0 {
		right.names = append(right.names, noEvidence)
	}
	middle.told = map[string]int{} // a control that several documents show goes through more than once
	for name, n := range domains {
		middle.told[asDomain(name)] += n
	}
	asked, shown := map[[2]string]float64{}, map[[2]string]float64{}
	for _, d := range all {
		name := asDomain(v.domain(d.code))
		for f, n := range d.frameworks {
			asked[[2]string{asFramework(f), name}] += float64(n)
		}
		for f, n := range d.documents {
			shown[[2]string{name, asDocument(f)}] += float64(n)
		}
		if d.controls > d.seen {
			shown[[2]string{name, noEvidence}] += float64(d.controls - d.seen)
		}
	}
	first, second := left.streams(&middle, asked), middle.streams(&right, shown)
	return picture{layFlow(&left, &middle, &right, first, second)}
}

// streams are the links in the order of both stages, so that they cross little; the nodes get their sizes.
func (s *stage) streams(to *stage, n map[[2]string]float64) (out []stream) {
	for _, a := range s.names {
		for _, b := range to.names {
			if w := n[[2]string{a, b}]; w > 0 {
				out = append(out, stream{a, b, w})
				s.out[a] += w
				to.in[b] += w
			}
		}
	}
	return out
}

func layFlow(left, middle, right *stage, first, second []stream) drawing.Drawing {
	const node, space, high, top = 12.0, 8.0, 400.0, 26.0
	x := []float64{0, 270, 520}
	stages := []*stage{left, middle, right}
	heads := []string{"Frameworks", "Controls, by domain", "Evidence"}
	d := drawing.Drawing{Title: "From framework over controls to evidence", Width: drawing.Width, Height: top + high + 8}
	scale := 1e9
	for _, s := range stages {
		sum := 0.0
		for _, name := range s.names {
			s.size[name] = max(s.in[name], s.out[name])
			sum += s.size[name]
		}
		if sum > 0 {
			scale = min(scale, (high-space*float64(len(s.names)))/sum)
		}
	}
	for _, s := range stages {
		y := top
		for _, name := range s.names {
			s.y[name] = y
			// A node of which little goes through still has room for its name.
			y += max(s.size[name]*scale, smallSize) + space
			s.in[name], s.out[name] = 0, 0
		}
		d.Height = max(d.Height, y+8)
	}
	draw := func(from, to *stage, all []stream, x0, x1 float64) {
		for _, s := range all {
			w := s.n * scale
			a, b := from.y[s.from]+from.out[s.from], to.y[s.to]+to.in[s.to]
			from.out[s.from] += w
			to.in[s.to] += w
			fill := drawing.Stream(slices.Index(from.names, s.from))
			if s.to == noEvidence {
				fill = "missing"
			}
			d.Add(drawing.Area{Points: ribbon(x0, a, x1, b, w), Fill: plainFill(fill), Opacity: 0.42})
		}
	}
	draw(left, middle, first, x[0]+node, x[1])
	draw(middle, right, second, x[1]+node, x[2])
	var said []string
	for i, s := range stages {
		d.Add(drawing.Label{X: x[i], Y: 14, Size: labelSize, Text: heads[i], Color: drawing.Soft, Strong: true})
		for _, name := range s.names {
			h := max(s.size[name]*scale, 2)
			fill := drawing.Accent
			if name == noEvidence {
				fill = drawing.Bad
			}
			d.Add(drawing.Box{X: x[i], Y: s.y[name], W: node, H: h, Fill: fill})
			room := drawing.Width - x[i] - node - 8
			if i < 2 {
				room = x[i+1] - x[i] - node - 30
			}
			number := int(s.size[name] + 0.5)
			if s.told != nil {
				number = s.told[name]
			}
			n := " (" + count(number) + ")"
			l := drawing.Fitted(drawing.Label{X: x[i] + node + 6, Y: s.y[name] + max(h/2, 4) + 4, Size: smallSize, Text: name, Color: drawing.Ink}, room-drawing.WidthOf(n, smallSize, false)*1.1)
			l.Text += n
			x0, x1 := l.X-3, l.X+drawing.WidthOf(l.Text, smallSize, false)+3
			d.Add(drawing.Area{Points: []drawing.Point{{X: x0, Y: l.Y - 11}, {X: x1, Y: l.Y - 11}, {X: x1, Y: l.Y + 4}, {X: x0, Y: l.Y + 4}}, Fill: drawing.Paper, Opacity: 0.6}, l)
		}
	}
	for _, s := range append(slices.Clone(first), second...) {
		said = append(said, fmt.Sprintf("%s to %s: %s", clipped(s.from), clipped(s.to), count(int(s.n+0.5))))
	}
	d.Text = "A stream is as wide as the controls it stands for. " + strings.Join(said, "; ") + "."
	return d
}

// plainFill is a fill without a pattern, for shapes that are no rectangles.
func plainFill(n drawing.Name) drawing.Name {
	if n == "missing" {
		return drawing.Heat(4)
	}
	return n
}

// clipped is a name that fits into a description.
func clipped(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// ribbon is a stream of a width between two places, bent like a wave.
func ribbon(x0, y0, x1, y1, w float64) []drawing.Point {
	const steps = 16
	out := make([]drawing.Point, 0, 2*steps+2)
	at := func(i int) (x, bend float64) {
		t := float64(i) / steps
		return x0 + (x1-x0)*t, t * t * (3 - 2*t)
	}
	for i := 0; i <= steps; i++ {
		x, s := at(i)
		out = append(out, drawing.Point{X: x, Y: y0 + (y1-y0)*s})
	}
	for i := steps; i >= 0; i-- {
		x, s := at(i)
		out = append(out, drawing.Point{X: x, Y: y0 + (y1-y0)*s + w})
	}
	return out
}
