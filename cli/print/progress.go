package print

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress tells on the side what goes on. On a terminal it is one line that is
// rewritten; elsewhere a plain line now and then. A nil Progress says nothing.
type Progress struct {
	W io.Writer
	// Terminal says that the line may be rewritten.
	Terminal bool
	Color    bool
	Width    int
	Clock    func() time.Time
	// Quiet leaves out everything but Say.
	Quiet bool

	mu      sync.Mutex
	words   string
	started time.Time
	last    time.Time
	stop    chan struct{}
}

// The plain form says nothing before firstWord, and then at most every nextWord.
const (
	firstWord = time.Second
	nextWord  = 10 * time.Second
	redraw    = 500 * time.Millisecond
)

// Start begins a piece of work, in words such as "read the documents".
func (p *Progress) Start(words string) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.words, p.started = words, p.Clock()
	p.last = p.started
	p.draw()
	p.stop = make(chan struct{})
	go p.tick(p.stop)
}

// tick shows that time goes by while nothing else is to be told.
func (p *Progress) tick(stop chan struct{}) {
	t := time.NewTicker(redraw)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			p.mu.Lock()
			if p.stop == stop {
				p.draw()
			}
			p.mu.Unlock()
		}
	}
}

// Update says how far the work is.
func (p *Progress) Update(format string, args ...any) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = fmt.Sprintf(format, args...)
	p.draw()
}

func (p *Progress) draw() {
	now := p.Clock()
	elapsed := now.Sub(p.started)
	words := Line(p.words)
	if p.Terminal {
		took := ""
		if elapsed >= firstWord {
			took = " (" + Elapsed(elapsed) + ")"
		}
		if p.Width > 0 {
			words = Cut(words, p.Width-3-len(took))
		}
		words += took
		fmt.Fprintf(p.W, "\r\x1b[K%s %s", paint(p.Color, Blue, "·"), words)
		return
	}
	if wait := now.Sub(p.last); elapsed >= firstWord && (wait >= nextWord || p.last.Equal(p.started)) {
		p.last = now
		fmt.Fprintf(p.W, "· %s\n", words)
	}
}

// Done ends the piece of work with a line that stays; with no words, without one.
func (p *Progress) Done(format string, args ...any) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.Clock().Sub(p.started)
	running := p.stop != nil
	p.end()
	if format == "" {
		return
	}
	words := Line(fmt.Sprintf(format, args...))
	if running && took >= firstWord {
		words += " (" + Elapsed(took) + ")"
	}
	fmt.Fprintf(p.W, "%s %s\n", paint(p.Color, Green, "✓"), words)
}

// Say prints a line that stays, also when quiet: notices and errors.
func (p *Progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	text := strings.TrimRight(Block(fmt.Sprintf(format, args...)), "\n")
	fmt.Fprintln(p.W, strings.Join(Prose(text, p.Width), "\n"))
}

// end stops the ticker and clears the line that is rewritten.
func (p *Progress) end() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	p.stop = nil
	if p.Terminal {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}

// Elapsed is a duration as people read it.
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
