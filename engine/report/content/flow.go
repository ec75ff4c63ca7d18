package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// Maximum numbers of nodes shown in each stage of the flow picture. The remaining nodes are combined into one.
const (
	flowFrameworks = drawing.StreamCount
	flowDomains    = 12
	flowDocuments  = 12
	noEvidence     = "No evidence"
)

// domainFlow holds counts for the applicable controls of one domain. They are broken down by the frameworks that
// require the controls, and by the documents that support them.
type domainFlow struct {
	code                string
	controls, evidenced int
	frameworks          map[string]int
	documents           map[string]int
}

// domainFlows returns the counts for each domain. A control counts once for each framework that requires it
// and once for each document that supports it.
func (v *Report) domainFlows() []domainFlow {
	by := map[string]*domainFlow{}
	names := map[string]string{}
	for _, f := range v.Frameworks {
		names[f.Code] = wording.OrDefault(f.Name, f.Code)
	}
	for i := range v.SoAItems {
		it := &v.SoAItems[i]
		if !it.Applicability.IsApplicable() {
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
			d.evidenced++
		}
		for _, name := range docs {
			d.documents[name]++
		}
	}
	out := make([]domainFlow, 0, len(by))
	for _, code := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[code])
	}
	slices.SortFunc(out, func(a, b domainFlow) int { return scf.CompareNatural(a.code, b.code) })
	return out
}

// documentNames returns the names of the documents that contain the passages, without duplicates.
func documentNames(all []api.Evidence) (out []string) {
	for _, e := range all {
		if name := wording.OrDefault(e.Filename, e.DocumentTitle); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// coverageFlowBlocks returns a table and a picture that show the flow from frameworks through controls to evidence.
func (v *Report) coverageFlowBlocks() []block.Block {
	all := v.domainFlows()
	if len(all) == 0 {
		return nil
	}
	t := block.Table{Caption: "From frameworks through controls to evidence, by domain", Columns: []block.Column{
		{Name: "Domain", Width: 6},
		{Name: "Applicable controls", Width: 3, Number: true},
		{Name: "With evidence", Width: 3, Number: true},
		{Name: "Without", Width: 3, Number: true},
		{Name: "Controls required by", Width: 9},
		{Name: "Controls supported by", Width: 13},
	}}
	for _, d := range all {
		t.Rows = append(
			t.Rows,
			block.Row{
				Cells: []block.Cell{
					block.UserText(v.domainLabel(d.code)),
					block.Number(d.controls),
					block.Number(d.evidenced),
					block.Number(d.controls - d.evidenced),
					countsCell(d.frameworks, "\n"),
					countsCell(d.documents, ", "),
				},
			},
		)
	}
	return []block.Block{
		block.Heading{ID: v.anchors.assign("coverage", "flow"), Text: "From frameworks to evidence"},
		t,
		v.flowPicture(all),
	}
}

// countsCell returns a cell that lists names with their counts, largest count first.
func countsCell(n map[string]int, separator string) block.Cell {
	var out []string
	for _, name := range keysByCount(n) {
		out = append(out, fmt.Sprintf("%s: %s", name, prose.GroupThousands(n[name])))
	}
	if len(out) == 0 {
		return block.Text("–")
	}
	return block.Prose(strings.Join(out, separator))
}

func keysByCount(n map[string]int) []string {
	names := slices.Sorted(maps.Keys(n))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(n[b], n[a]) })
	return names
}

// flowStage is a column of nodes in the flow picture. The size of a node is the total width of the streams
// through it.
type flowStage struct {
	names   []string
	size    map[string]float64
	y       map[string]float64
	usedIn  map[string]float64 // the occupied part of a node's left side
	usedOut map[string]float64
	// shownCounts holds the numbers shown next to the names if they differ from the sizes.
	shownCounts map[string]int
}

// newFlowStage returns a stage for the names in n. If there are more than limit names, the names with the smallest
// counts share a node named restName. nameFor maps a name to the name of its node.
func newFlowStage(n map[string]int, limit int, restName string) (s flowStage, nameFor func(string) string) {
	names := keysByCount(n)
	if len(names) > limit {
		names = append(names[:limit-1:limit-1], restName)
	}
	s = flowStage{
		names:   names,
		size:    map[string]float64{},
		y:       map[string]float64{},
		usedIn:  map[string]float64{},
		usedOut: map[string]float64{},
	}
	return s, func(name string) string {
		if slices.Contains(names, name) {
			return name
		}
		return restName
	}
}

type flowStream struct {
	from, to string
	n        float64
}

// flowPicture draws the same data as the table shows. The stages are connected by streams, whose widths represent
// numbers of controls.
func (v *Report) flowPicture(all []domainFlow) block.Picture {
	frameworks, domains, documents := map[string]int{}, map[string]int{}, map[string]int{}
	for _, d := range all {
		domains[v.domainLabel(d.code)] += d.controls
		for f, n := range d.frameworks {
			frameworks[f] += n
		}
		for f, n := range d.documents {
			documents[f] += n
		}
		if d.controls > d.evidenced {
			documents[noEvidence] += d.controls - d.evidenced
		}
	}
	left, asFramework := newFlowStage(frameworks, flowFrameworks, "Other frameworks")
	middle, asDomain := newFlowStage(domains, flowDomains, "Other domains")
	right, asDocument := newFlowStage(documents, flowDocuments, "Other documents")
	if i := slices.Index(right.names, noEvidence); i >= 0 { // always shown last, whatever its size
		right.names = append(slices.Delete(right.names, i, i+1), noEvidence)
	} else if documents[noEvidence] > 0 {
		right.names = append(right.names, noEvidence)
	}
	middle.shownCounts = map[string]int{} // a control supported by several documents is counted more than once in the flow
	for name, n := range domains {
		middle.shownCounts[asDomain(name)] += n
	}
	asked, shown := map[[2]string]float64{}, map[[2]string]float64{}
	for _, d := range all {
		name := asDomain(v.domainLabel(d.code))
		for f, n := range d.frameworks {
			asked[[2]string{asFramework(f), name}] += float64(n)
		}
		for f, n := range d.documents {
			shown[[2]string{name, asDocument(f)}] += float64(n)
		}
		if d.controls > d.evidenced {
			shown[[2]string{name, noEvidence}] += float64(d.controls - d.evidenced)
		}
	}
	first, second := left.addStreamsTo(&middle, asked), middle.addStreamsTo(&right, shown)
	return block.Picture{Drawing: drawFlow(&left, &middle, &right, first, second)}
}

// addStreamsTo returns the streams from this stage to the next one, ordered by node so that few of them cross. It also
// adds their widths to the nodes' sizes.
func (s *flowStage) addStreamsTo(to *flowStage, weights map[[2]string]float64) (out []flowStream) {
	for _, a := range s.names {
		for _, b := range to.names {
			if w := weights[[2]string{a, b}]; w > 0 {
				out = append(out, flowStream{from: a, to: b, n: w})
				s.usedOut[a] += w
				to.usedIn[b] += w
			}
		}
	}
	return out
}

func drawFlow(left, middle, right *flowStage, first, second []flowStream) drawing.Drawing {
	const node, space, high, top = 12.0, 8.0, 400.0, 26.0
	x := []float64{0, 270, 520}
	stages := []*flowStage{left, middle, right}
	heads := []string{"Frameworks", "Controls, by domain", "Evidence"}
	d := drawing.Drawing{Title: "From frameworks through controls to evidence", Width: drawing.Width, Height: top + high + 8}
	scale := 1e9
	for _, s := range stages {
		sum := 0.0
		for _, name := range s.names {
			s.size[name] = max(s.usedIn[name], s.usedOut[name])
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
			// Even small nodes need room for their names.
			y += max(s.size[name]*scale, drawing.SmallLabelSize) + space
			s.usedIn[name], s.usedOut[name] = 0, 0
		}
		d.Height = max(d.Height, y+8)
	}
	draw := func(from, to *flowStage, all []flowStream, x0, x1 float64) {
		for _, s := range all {
			w := s.n * scale
			a, b := from.y[s.from]+from.usedOut[s.from], to.y[s.to]+to.usedIn[s.to]
			from.usedOut[s.from] += w
			to.usedIn[s.to] += w
			fill := drawing.StreamColor(slices.Index(from.names, s.from))
			if s.to == noEvidence {
				fill = "missing"
			}
			d.Add(drawing.Area{Points: streamOutline(x0, a, x1, b, w), Fill: solidFill(fill), Opacity: 0.42})
		}
	}
	draw(left, middle, first, x[0]+node, x[1])
	draw(middle, right, second, x[1]+node, x[2])
	var descriptions []string
	for i, s := range stages {
		d.Add(drawing.Label{X: x[i], Y: 14, Size: drawing.LabelSize, Text: heads[i], Color: drawing.Soft, Bold: true})
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
			if s.shownCounts != nil {
				number = s.shownCounts[name]
			}
			n := " (" + prose.GroupThousands(number) + ")"
			l := drawing.FitLabel(
				drawing.Label{
					X:     x[i] + node + 6,
					Y:     s.y[name] + max(h/2, 4) + 4,
					Size:  drawing.SmallLabelSize,
					Text:  name,
					Color: drawing.Ink,
				},
				room-drawing.TextWidth(n, drawing.SmallLabelSize, false)*1.1,
			)
			l.Text += n
			x0, x1 := l.X-3, l.X+drawing.TextWidth(l.Text, drawing.SmallLabelSize, false)+3
			d.Add(
				drawing.Area{
					Points:  []drawing.Point{{X: x0, Y: l.Y - 11}, {X: x1, Y: l.Y - 11}, {X: x1, Y: l.Y + 4}, {X: x0, Y: l.Y + 4}},
					Fill:    drawing.Paper,
					Opacity: 0.6,
				},
				l,
			)
		}
	}
	for _, s := range append(slices.Clone(first), second...) {
		descriptions = append(
			descriptions,
			fmt.Sprintf("%s to %s: %s", shortenName(s.from), shortenName(s.to), prose.GroupThousands(int(s.n+0.5))),
		)
	}
	d.Description = "The width of each stream represents the number of controls. " + strings.Join(descriptions, "; ") + "."
	return d
}

// solidFill returns a fill without a pattern to use instead of n, because patterns can only be drawn on rectangles.
func solidFill(n drawing.ColorName) drawing.ColorName {
	if n == "missing" {
		return drawing.HeatShade(4)
	}
	return n
}

// shortenName shortens a name to at most 80 characters, for use in a picture's description.
func shortenName(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// streamOutline returns the outline of an S-shaped stream of width w from (x0, y0) to (x1, y1).
func streamOutline(x0, y0, x1, y1, w float64) []drawing.Point {
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
