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

// search looks for passages while one types. Each keystroke makes older answers stale:
// they are dropped, whenever they come.
type search struct {
	app   *App
	one   api.Assessment
	field *input.Field
	// asked counts the questions, so that only the answer of the last is shown.
	asked  int
	answer *api.SearchAnswer
	open   bool // an answer is awaited
	at     int
}

// typingPause is how long the fingers have to rest before it is asked.
const typingPause = 200 * time.Millisecond

func newSearch(a *App, one api.Assessment) *search {
	return &search{app: a, one: one, field: input.New("", false)}
}

func (s *search) name() string  { return "Search" }
func (s *search) title() string { return s.one.Name + " › Search" }

func (s *search) load() tea.Cmd {
	if s.open { // what was asked when the connection was lost
		return s.ask(s.asked)
	}
	return nil
}

func (s *search) actions() []action.Action {
	off := ""
	if s.hit() == nil {
		off = "there is no passage here"
	}
	return []action.Action{
		{Keys: []string{"enter"}, Label: "open", Off: off, Help: "opens the document at the passage", Do: func() tea.Cmd {
			h := s.hit()
			return s.app.push(newPassages(s.app, h.DocumentID, h.Filename, h.ChunkID, h.Highlights))
		}},
		{Keys: []string{"up"}, Label: "up", Help: "one up", Do: func() tea.Cmd { s.at = max(0, s.at-1); return nil }},
		{Keys: []string{"down"}, Label: "down", Help: "one down", Do: func() tea.Cmd {
			if s.answer != nil {
				s.at = max(0, min(s.at+1, len(s.answer.Data)-1))
			}
			return nil
		}},
		{Keys: []string{"ctrl+u"}, Help: "takes away what was typed; other letters are what is searched for", Do: func() tea.Cmd { return nil }},
	}
}

func (s *search) hit() *api.SearchHit {
	if s.answer == nil || s.at >= len(s.answer.Data) {
		return nil
	}
	return &s.answer.Data[s.at]
}

// typed takes letters as what is searched for.
func (s *search) typed(k tea.KeyMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "ctrl+l", "ctrl+r":
		return nil, false
	case "?":
		if s.field.Value() == "" {
			return nil, false
		}
	}
	before := s.field.Value()
	if !s.field.Key(k) {
		return nil, false
	}
	if s.field.Value() == before {
		return nil, true
	}
	s.asked++
	turn := s.asked
	if strings.TrimSpace(s.field.Value()) == "" {
		s.answer, s.open = nil, false
		return nil, true
	}
	s.open = true
	return s.app.after(typingPause, func() tea.Cmd { return s.ask(turn) }), true
}

func (s *search) ask(turn int) tea.Cmd {
	if turn != s.asked {
		return nil
	}
	in := api.SearchInput{Body: api.SearchBody{Query: strings.TrimSpace(s.field.Value()), AssessmentID: s.one.ID, TopK: 20}}
	if len(in.Body.Query) > 4000 {
		in.Body.Query = strings.ToValidUTF8(in.Body.Query[:4000], "")
	}
	return s.app.later(func(ctx context.Context) func() tea.Cmd {
		got, err := do(ctx, s.app.Caller, api.SearchKB, &in)
		return func() tea.Cmd {
			switch {
			case turn != s.asked: // something else is asked by now
				return nil
			case err != nil:
				return s.app.fail(err)
			}
			s.app.found()
			s.answer, s.open, s.at = got, false, 0
			return nil
		}
	})
}

func (s *search) view(w, h int) []draw.Line {
	head := append(draw.Line{{Text: "search: ", Style: draw.Bold}}, s.field.Draw(max(2, w-9), 1)[0]...)
	out := []draw.Line{head}
	if h > 5 {
		out = append(out, draw.T(draw.Dim, draw.Rule(w)))
	}
	h -= len(out)
	p := draw.NewPage(w)
	switch {
	case strings.TrimSpace(s.field.Value()) == "":
		p.Text(draw.Dim, "Type what you look for: it is found by meaning and by words.")
	case s.answer == nil:
		p.Text(draw.Dim, "searching…")
	case len(s.answer.Data) == 0:
		p.Text(draw.Plain, "No passage is about that.")
	}
	starts := make([]int, 0, 20)
	if s.answer != nil {
		for i, hit := range s.answer.Data {
			starts = append(starts, len(p.Lines))
			line := draw.Line{{Text: fmt.Sprintf(" %.2f  ", hit.Score), Style: draw.Cyan}, {Text: hit.Filename, Style: draw.Bold}, {Text: "  " + print.Place(hit.HeadingPath, hit.Locator), Style: draw.Dim}}
			if i == s.at {
				line = append(draw.Line{{Text: "›"}}, line...).Fit(w, draw.Plain).With(draw.Reverse)
			} else {
				line = append(draw.Line{{Text: " "}}, line...)
			}
			p.Add(line)
			text := strings.Join(hit.Highlights, " … ")
			if text == "" {
				text = hit.Text
			}
			inner := draw.NewPage(max(1, w-8))
			inner.Text(draw.Plain, strings.Join(strings.Fields(text), " "))
			for _, l := range inner.Lines[:min(2, len(inner.Lines))] {
				p.Add(append(draw.Line{{Text: "        "}}, l...))
			}
		}
	}
	from := 0
	if s.at < len(starts) {
		from = max(0, min(starts[s.at], starts[s.at]-h+3))
	}
	lines := p.Lines[min(from, len(p.Lines)):]
	return append(out, lines[:min(len(lines), max(0, h))]...)
}
