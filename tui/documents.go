package tui

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// newDocumentsScreen returns the screen that lists an assessment's documents.
func newDocumentsScreen(a *App, assessment api.Assessment) *table {
	t := &table{app: a, label: "Documents", parentTitle: assessment.Name, emptyText: "No documents yet; add some with `service doc add`."}
	t.fetch = func(ctx context.Context, c Caller, p api.Paging) ([]entry, api.Pagination, error) {
		l, err := call(
			ctx,
			c,
			api.ListDocuments,
			&api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: p},
		)
		if err != nil {
			return nil, api.Pagination{}, err
		}
		var out []entry
		for i := range l.Data {
			d := &l.Data[i]
			style := map[api.DocumentState]draw.Style{api.DocumentFailed: draw.Red, api.DocumentIngested: draw.Green}[d.Status]
			out = append(
				out,
				newEntry(
					d.ID,
					d,
					[]draw.Style{1: style},
					d.Filename,
					string(d.Status),
					d.Category,
					fmt.Sprint(d.ChunkCount),
					print.FormatSize(d.SizeBytes),
					d.Title,
				),
			)
		}
		return out, l.Pagination, nil
	}
	t.isLive = func(record any) bool {
		s := record.(*api.Document).Status
		return s == api.DocumentUploaded || s == api.DocumentProcessing
	}
	t.renderRecord = func(p *draw.Page, record any) {
		d := record.(*api.Document)
		p.AddText(draw.Bold, d.Filename)
		p.AddField("title", d.Title, draw.Plain)
		p.AddField("path", d.Path, draw.Plain)
		p.AddField("status", string(d.Status), draw.Plain)
		p.AddField("error", stringOrEmpty(d.Error), draw.Red)
		for _, w := range d.Warnings {
			p.AddField("warning", w, draw.Yellow)
		}
		if d.Outdated {
			p.AddField("outdated", "read by an older version of the program; to read the document again, run `service doc reprocess --outdated`",
				draw.Yellow)
		}
		p.AddField("not read", api.DescribeNotRead(d.NotRead), draw.Yellow)
		p.AddField("category", d.Category, draw.Plain)
		p.AddField("effective", stringOrEmpty(d.EffectiveDate), draw.Plain)
		p.AddField("version", d.DocVersion, draw.Plain)
		p.AddField("owner", d.Owner, draw.Plain)
		p.AddField("approved by", d.ApprovedBy, draw.Plain)
		p.AddField("language", d.Language, draw.Plain)
		if d.PageCount > 0 {
			p.AddField("pages", fmt.Sprint(d.PageCount), draw.Plain)
		}
		p.AddField("passages", fmt.Sprint(d.ChunkCount), draw.Plain)
		p.AddField("size", print.FormatSize(d.SizeBytes), draw.Plain)
		p.AddField("sha256", d.SHA256, draw.Dim)
	}
	t.extraActions = func(record any) []action.Action {
		d, _ := record.(*api.Document)
		off := ""
		switch {
		case d == nil:
			off = "no document is selected"
		case d.ChunkCount == 0:
			off = "the document has no passages"
		}
		return []action.Action{
			{
				Keys:           []string{"enter", "p"},
				Label:          "passages",
				DisabledReason: off,
				Help:           "opens the document's passages",
				Do:             func() tea.Cmd { return a.push(newPassagesScreen(a, d.ID, d.Filename, "", nil)) },
			},
		}
	}
	return t.withColumns(
		list.Column{Title: "file"},
		list.Column{Title: "status", Width: 10, ShowFrom: 34},
		list.Column{Title: "category", Width: 10, ShowFrom: 70},
		list.Column{Title: "passages", Width: 8, AlignRight: true, ShowFrom: 80},
		list.Column{Title: "size", Width: 9, AlignRight: true, ShowFrom: 92},
	)
}

// passages shows a document passage by passage, with quotes highlighted.
type passages struct {
	app      *App
	document string
	filename string
	// chunk is the passage to start with, quotes the text to highlight in it.
	chunk  string
	quotes []string
	chunks []api.Chunk
	loaded bool
	scroll int
	// lines are the lines at the current width, starts the first line of each passage.
	lines       []draw.Line
	starts      []int
	width       int
	hasPosition bool
}

func newPassagesScreen(a *App, documentID, filename, chunkID string, quotes []string) *passages {
	return &passages{app: a, document: documentID, filename: filename, chunk: chunkID, quotes: quotes}
}

func (s *passages) name() string  { return "Passages" }
func (s *passages) title() string { return s.filename }

// maxPassages limits how much of a document is read.
const maxPassages = 5000

func (s *passages) load() tea.Cmd {
	if s.loaded {
		return nil // passages never change
	}
	return s.app.runInBackgroundWithTimeout(2*requestTimeout, func(ctx context.Context) func() tea.Cmd {
		var all []api.Chunk
		var err error
		for cursor := ""; len(all) < maxPassages; {
			var l *api.List[api.Chunk]
			l, err = call(
				ctx,
				s.app.Caller,
				api.ListDocumentChunks,
				&api.DocumentChunksInput{
					DocumentInput: api.DocumentInput{DocumentID: s.document},
					Paging:        api.Paging{Limit: api.MaxListLimit, Cursor: cursor},
				},
			)
			if err != nil {
				break
			}
			all = append(all, l.Data...)
			if l.Pagination.NextCursor == nil || len(l.Data) == 0 {
				break
			}
			cursor = *l.Pagination.NextCursor
		}
		return func() tea.Cmd {
			if err != nil {
				return s.app.showErrorOrReconnect(err)
			}
			s.app.markConnected()
			s.chunks, s.loaded, s.width = all, true, 0
			return nil
		}
	})
}

func (s *passages) actions() []action.Action {
	off := ""
	if len(s.chunks) == 0 {
		off = "no passage is selected"
	}
	out := []action.Action{
		{
			Keys:           []string{"n", "right"},
			Label:          "next",
			DisabledReason: off,
			Help:           "goes to the next passage",
			Do:             func() tea.Cmd { s.moveByPassages(1); return nil },
		},
		{
			Keys:           []string{"N", "left"},
			Label:          "previous",
			DisabledReason: off,
			Help:           "goes to the previous passage",
			Do:             func() tea.Cmd { s.moveByPassages(-1); return nil },
		},
		{
			Keys:           []string{"Y"},
			Label:          "copy",
			DisabledReason: off,
			Help:           "copies the passage at the top of the screen to the clipboard (OSC 52)",
			Do:             func() tea.Cmd { return s.app.copyToClipboard(s.chunks[s.currentPassageIndex()].Text) },
		},
	}
	return append(out, movementActions(func(to string) tea.Cmd {
		s.scroll = max(
			0,
			s.scroll+map[string]int{"up": -1, "down": 1, "pgup": -s.app.h + 5, "pgdown": s.app.h - 5, "home": -1 << 20, "end": 1 << 20}[to],
		)
		return nil
	})...)
}

// currentPassageIndex returns the passage at the top of the screen.
func (s *passages) currentPassageIndex() int {
	at := 0
	for i, line := range s.starts {
		if line <= s.scroll {
			at = i
		}
	}
	return min(at, max(0, len(s.chunks)-1))
}

// moveByPassages scrolls by a number of passages.
func (s *passages) moveByPassages(by int) {
	if to := s.currentPassageIndex() + by; to >= 0 && to < len(s.starts) {
		s.scroll = s.starts[to]
	}
}

func (s *passages) view(w, h int) []draw.Line {
	if !s.loaded {
		return []draw.Line{draw.TextLine(draw.Dim, "loading…")}
	}
	if len(s.chunks) == 0 {
		return []draw.Line{draw.TextLine(draw.Plain, "The document has no passages.")}
	}
	if s.width != w {
		s.layOut(w)
	}
	s.scroll = max(0, min(s.scroll, len(s.lines)-h))
	return s.lines[s.scroll:min(len(s.lines), s.scroll+h)]
}

// layOut wraps the passages to w cells, and keeps the current passage at the top.
func (s *passages) layOut(w int) {
	at := 0
	if s.hasPosition {
		at = s.currentPassageIndex()
	}
	p := draw.NewPage(min(w, 110))
	s.starts = s.starts[:0]
	for i := range s.chunks {
		c := &s.chunks[i]
		p.EnsureBlankLine()
		s.starts = append(s.starts, len(p.Lines))
		chosen := c.ID == s.chunk
		head := draw.Dim
		if chosen {
			head = draw.Bold
			if !s.hasPosition {
				at = i
			}
		}
		sign := "  "
		if chosen {
			sign = "› "
		}
		p.AddText(head, fmt.Sprintf("%s%d. %s", sign, i+1, print.FormatLocation(c.HeadingPath, c.Locator)))
		if chosen {
			renderWithHighlights(p, c.Text, s.quotes)
		} else {
			p.AddIndented(2, draw.Plain, c.Text)
		}
	}
	s.lines, s.width = p.Lines, w
	s.scroll, s.hasPosition = s.starts[at], true
}

// renderWithHighlights adds text to p and highlights each quote whose words occur in the text in the same
// order without gaps.
func renderWithHighlights(p *draw.Page, text string, quotes []string) {
	words := strings.Fields(print.SafeBlock(text))
	on := make([]bool, len(words))
	for _, q := range quotes {
		wanted := strings.Fields(print.SafeBlock(strings.Trim(q, "…")))
		for from := 0; len(wanted) > 0 && from+len(wanted) <= len(words); from++ {
			same := true
			for i, w := range wanted {
				same = same && strings.Contains(words[from+i], w)
			}
			for i := range wanted {
				on[from+i] = on[from+i] || same
			}
		}
	}
	// Line breaks are kept; highlights are located by counting words.
	n := 0
	for _, l := range print.Wrap(print.SafeBlock(text), p.Width()-2) {
		line := draw.Line{{Text: "  "}}
		for i, w := range strings.Fields(l) {
			if i > 0 {
				gap := draw.Plain
				if n > 0 && n < len(on) && on[n-1] && on[n] {
					gap = draw.Reverse
				}
				line = append(line, draw.Span{Text: " ", Style: gap})
			}
			style := draw.Plain
			if n < len(on) && on[n] {
				style = draw.Reverse
			}
			line = append(line, draw.Span{Text: w, Style: style})
			n++
		}
		p.AddLine(line)
	}
}

// passageActions returns the actions on an item's evidence. They are disabled if noItemReason is not
// empty.
func (v *review) passageActions(noItemReason string) []action.Action {
	off := noItemReason
	var all []api.Evidence
	if r := v.selectedRow(); r != nil {
		all = v.kind.evidenceOf(r.item)
		if len(all) == 0 {
			off = "no passage found"
		}
	}
	turn := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			v.quoteIndex = (v.quoteIndex + by + len(all)) % len(all)
			if r := v.selectedRow(); r != nil && v.cachedPage.w > 0 {
				v.cachedPage = v.drawItem(r, v.cachedPage.w)
				v.scroll = v.cachedPage.quoteAt
			}
			return nil
		}
	}
	return []action.Action{
		{
			Keys:           []string{"p"},
			Label:          "passage",
			DisabledReason: off,
			Help:           "opens the source document at the selected quote, highlighted",
			Do: func() tea.Cmd {
				e := all[min(v.quoteIndex, len(all)-1)]
				return v.app.push(newPassagesScreen(v.app, e.DocumentID, e.Filename, e.ChunkID, []string{e.Quote}))
			},
		},
		{Keys: []string{"]"}, DisabledReason: off, Help: "selects the next quote", Do: turn(1)},
		{Keys: []string{"["}, DisabledReason: off, Help: "selects the previous quote", Do: turn(-1)},
	}
}
