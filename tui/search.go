package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/action"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/input"
)

// search finds passages as the user types. Each keystroke makes pending requests obsolete; their results are
// ignored.
type search struct {
	app        *App
	assessment api.Assessment
	field      *input.Field
	// requestSeq numbers the requests, so that only the result of the latest is shown.
	requestSeq int
	answer     *api.SearchAnswer
	pending    bool // a request is pending
	cursor     int
}

// typingDelay is the pause in typing after which a search is sent.
const typingDelay = 200 * time.Millisecond

func newSearchScreen(a *App, assessment api.Assessment) *search {
	return &search{app: a, assessment: assessment, field: input.New("", false)}
}

func (s *search) name() string  { return "Search" }
func (s *search) title() string { return s.assessment.Name + " › Search" }

func (s *search) load() tea.Cmd {
	if s.pending { // repeat the query that was pending when the connection was lost
		return s.runQuery(s.requestSeq)
	}
	return nil
}

func (s *search) actions() []action.Action {
	off := ""
	if s.selectedHit() == nil {
		off = "no passage is selected"
	}
	return []action.Action{
		{Keys: []string{"enter"}, Label: "open", DisabledReason: off, Help: "opens the document at the passage", Do: func() tea.Cmd {
			h := s.selectedHit()
			return s.app.push(newPassagesScreen(s.app, h.DocumentID, h.Filename, h.ChunkID, h.Highlights))
		}},
		{Keys: []string{"up"}, Label: "up", Help: "moves up one line", Do: func() tea.Cmd { s.cursor = max(0, s.cursor-1); return nil }},
		{Keys: []string{"down"}, Label: "down", Help: "moves down one line", Do: func() tea.Cmd {
			if s.answer != nil {
				s.cursor = max(0, min(s.cursor+1, len(s.answer.Data)-1))
			}
			return nil
		}},
		{
			Keys: []string{"ctrl+u"},
			Help: "clears the query; letters that you type are added to the query",
			Do:   func() tea.Cmd { return nil },
		},
	}
}

func (s *search) selectedHit() *api.SearchHit {
	if s.answer == nil || s.cursor >= len(s.answer.Data) {
		return nil
	}
	return &s.answer.Data[s.cursor]
}

// handleTextKey adds letters to the query.
func (s *search) handleTextKey(k tea.KeyMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "ctrl+l", "ctrl+r":
		return nil, false
	case "?":
		if s.field.Value() == "" {
			return nil, false
		}
	}
	before := s.field.Value()
	if !s.field.HandleKey(k) {
		return nil, false
	}
	if s.field.Value() == before {
		return nil, true
	}
	s.requestSeq++
	turn := s.requestSeq
	if strings.TrimSpace(s.field.Value()) == "" {
		s.answer, s.pending = nil, false
		return nil, true
	}
	s.pending = true
	return s.app.schedule(typingDelay, func() tea.Cmd { return s.runQuery(turn) }), true
}

func (s *search) runQuery(seq int) tea.Cmd {
	if seq != s.requestSeq {
		return nil
	}
	in := api.SearchInput{Body: api.SearchBody{Query: strings.TrimSpace(s.field.Value()), AssessmentID: s.assessment.ID, TopK: 20}}
	if len(in.Body.Query) > 4000 {
		in.Body.Query = strings.ToValidUTF8(in.Body.Query[:4000], "")
	}
	return s.app.runInBackground(func(ctx context.Context) func() tea.Cmd {
		got, err := call(ctx, s.app.Caller, api.SearchKB, &in)
		return func() tea.Cmd {
			switch {
			case seq != s.requestSeq: // superseded by a newer request
				return nil
			case err != nil:
				return s.app.showErrorOrReconnect(err)
			}
			s.app.markConnected()
			s.answer, s.pending, s.cursor = got, false, 0
			return nil
		}
	})
}

func (s *search) view(w, h int) []draw.Line {
	head := append(draw.Line{{Text: "search: ", Style: draw.Bold}}, s.field.Draw(max(2, w-9), 1)[0]...)
	out := []draw.Line{head}
	if h > 5 {
		out = append(out, draw.TextLine(draw.Dim, draw.Rule(w)))
	}
	h -= len(out)
	p := draw.NewPage(w)
	switch {
	case strings.TrimSpace(s.field.Value()) == "":
		p.AddText(draw.Dim, "Type a question or some words. Passages are found by their meaning and by their words.")
	case s.answer == nil:
		p.AddText(draw.Dim, "searching…")
	case len(s.answer.Data) == 0:
		p.AddText(draw.Plain, "No matching passages.")
	}
	starts := make([]int, 0, 20)
	if s.answer != nil {
		for i, hit := range s.answer.Data {
			starts = append(starts, len(p.Lines))
			line := draw.Line{
				{Text: fmt.Sprintf(" %.2f  ", hit.Score), Style: draw.Cyan},
				{Text: hit.Filename, Style: draw.Bold},
				{Text: "  " + print.FormatLocation(hit.HeadingPath, hit.Locator), Style: draw.Dim},
			}
			if i == s.cursor {
				line = append(draw.Line{{Text: "›"}}, line...).Fit(w, draw.Plain).AddStyle(draw.Reverse)
			} else {
				line = append(draw.Line{{Text: " "}}, line...)
			}
			p.AddLine(line)
			text := strings.Join(hit.Highlights, " … ")
			if text == "" {
				text = hit.Text
			}
			inner := draw.NewPage(max(1, w-8))
			inner.AddText(draw.Plain, strings.Join(strings.Fields(text), " "))
			for _, l := range inner.Lines[:min(2, len(inner.Lines))] {
				p.AddLine(append(draw.Line{{Text: "        "}}, l...))
			}
		}
	}
	from := 0
	if s.cursor < len(starts) {
		from = max(0, min(starts[s.cursor], starts[s.cursor]-h+3))
	}
	lines := p.Lines[min(from, len(p.Lines)):]
	return append(out, lines[:min(len(lines), max(0, h))]...)
}
