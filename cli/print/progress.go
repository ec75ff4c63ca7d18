package print

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress shows progress messages. On a terminal it rewrites a single line; elsewhere it prints a
// plain line from time to time. A nil Progress prints nothing.
type Progress struct {
	W io.Writer
	// Terminal is set if the line can be rewritten.
	Terminal bool
	Color    bool
	Width    int
	Clock    func() time.Time
	// Quiet suppresses everything but Notice.
	Quiet bool

	mu      sync.Mutex
	text    string
	started time.Time
	last    time.Time
	stop    chan struct{}
}

// Outside a terminal, plain progress lines are printed only after plainDelay, and at most once per plainInterval.
const (
	plainDelay     = time.Second
	plainInterval  = 10 * time.Second
	redrawInterval = 500 * time.Millisecond
)

// Start begins an activity, for example "reading the documents".
func (p *Progress) Start(words string) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopTickerAndClearLine()
	p.text, p.started = words, p.Clock()
	p.last = p.started
	p.draw()
	p.stop = make(chan struct{})
	go p.redrawUntilStopped(p.stop)
}

// redrawUntilStopped keeps the displayed elapsed time current until stop is closed.
func (p *Progress) redrawUntilStopped(stop chan struct{}) {
	t := time.NewTicker(redrawInterval)
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

// Update shows the progress of the current activity.
func (p *Progress) Update(format string, args ...any) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = fmt.Sprintf(format, args...)
	p.draw()
}

// draw redraws the progress line on a terminal. Elsewhere, it prints a plain line if enough time has passed since the
// last one.
func (p *Progress) draw() {
	now := p.Clock()
	elapsed := now.Sub(p.started)
	words := SafeLine(p.text)
	if p.Terminal {
		took := ""
		if elapsed >= plainDelay {
			took = " (" + FormatElapsed(elapsed) + ")"
		}
		if p.Width > 0 {
			words = Truncate(words, p.Width-3-len(took))
		}
		words += took
		fmt.Fprintf(p.W, "\r\x1b[K%s %s", applyStyle(p.Color, Blue, "·"), words)
		return
	}
	if wait := now.Sub(p.last); elapsed >= plainDelay && (wait >= plainInterval || p.last.Equal(p.started)) {
		p.last = now
		fmt.Fprintf(p.W, "· %s\n", words)
	}
}

// Done ends the activity and prints a permanent line, unless the text is empty.
func (p *Progress) Done(format string, args ...any) {
	if p == nil || p.Quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	took := p.Clock().Sub(p.started)
	running := p.stop != nil
	p.stopTickerAndClearLine()
	if format == "" {
		return
	}
	words := SafeLine(fmt.Sprintf(format, args...))
	if running && took >= plainDelay {
		words += " (" + FormatElapsed(took) + ")"
	}
	fmt.Fprintf(p.W, "%s %s\n", applyStyle(p.Color, Green, "✓"), words)
}

// Notice prints a permanent line, for notices and errors. Quiet does not suppress it.
func (p *Progress) Notice(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopTickerAndClearLine()
	text := strings.TrimRight(SafeBlock(fmt.Sprintf(format, args...)), "\n")
	fmt.Fprintln(p.W, strings.Join(WrapProse(text, p.Width), "\n"))
}

// stopTickerAndClearLine stops the ticker and clears the rewritten line.
func (p *Progress) stopTickerAndClearLine() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	p.stop = nil
	if p.Terminal {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}

// FormatElapsed formats a duration for display.
func FormatElapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
