package tui

import (
	"fmt"
	"testing"
	"time"
)

// sizes are the numbers of items: a complete catalog, and several at once.
var sizes = []int{1468, 10_000}

// BenchmarkKey measures the time from a key press to the next frame: in the list, with a filter
// typed, and with the item's page redrawn each time.
func BenchmarkKey(b *testing.B) {
	for _, n := range sizes {
		s := newStage(b, newFake(n))
		s.size(160, 48)
		v := s.review("1")
		for _, one := range []struct {
			name string
			keys []string
		}{{"move", []string{"down"}}, {"page", []string{"pgdown", "pgup"}}, {"next", []string{"."}}, {"mark", []string{" "}}} {
			b.Run(fmt.Sprintf("%s/%d", one.name, n), func(b *testing.B) {
				v.list.MoveToEdge(false)
				for i := range b.N {
					s.press(one.keys[i%len(one.keys)])
					if s.app.View() == "" {
						b.Fatal("nothing drawn")
					}
				}
			})
		}
		b.Run(fmt.Sprintf("filter/%d", n), func(b *testing.B) {
			v.list.ClearMarks()
			s.press("/")
			keys := []string{"i", "a", "c", "-", "1", "backspace", "backspace", "backspace", "backspace", "backspace"}
			for i := range b.N {
				s.press(keys[i%len(keys)])
				if s.app.View() == "" {
					b.Fatal("nothing drawn")
				}
			}
			s.press("esc")
			if s.app.topScreen() != screen(v) {
				b.Fatal("left the review")
			}
		})
	}
}

// BenchmarkChangeAll changes all items at once and measures the time from the key to the frame that
// shows it, and then from each response of the engine to its frame. The longest of them is what a
// user may notice.
func BenchmarkChangeAll(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStage(b, newFake(n))
			s.size(160, 48)
			s.review("1")
			s.press("*", "o")
			begin := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				s.app.overlay, s.app.saver.sending, s.app.saver.queue = nil, nil, nil
				s.press("o", "ctrl+u")
				s.write(fmt.Sprint("Ada ", i))
				b.StartTimer()
				s.app.Update(keyOf("enter"))
				if s.app.View() == "" || s.app.saver.unsavedCount() != n {
					b.Fatal("nothing drawn, or not all to be saved")
				}
			}
			processor(b, begin)
		})
	}
}

// BenchmarkSaveMany measures the time from the engine's response to some of many changes to its
// frame.
func BenchmarkSaveMany(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStage(b, newFake(n))
			s.size(160, 48)
			s.review("1")
			s.press("*", "o")
			s.write("Ada")
			_, cmd := s.app.Update(keyOf("enter"))
			begin := cpuTime(b)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				if cmd == nil || s.app.saver.unsavedCount() == 0 {
					s.press("o", "ctrl+u")
					s.write(fmt.Sprint("Ada ", i))
					_, cmd = s.app.Update(keyOf("enter"))
				}
				answer := cmd()
				b.StartTimer()
				_, cmd = s.app.Update(answer)
				if s.app.View() == "" {
					b.Fatal("nothing drawn")
				}
			}
			processor(b, begin)
		})
	}
}

// processor reports the CPU time per iteration.
func processor(b *testing.B, begin time.Duration) {
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
}

// BenchmarkOpen measures opening an assessment and its Statement of Applicability, up to the frame with all
// items. Responses are encoded and decoded as over any transport.
func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes {
		f := newFake(n)
		b.Run(fmt.Sprintf("overview/%d", n), func(b *testing.B) {
			for range b.N {
				s := newStage(b, f)
				s.press("enter")
				if s.app.View() == "" {
					b.Fatal("nothing drawn")
				}
			}
		})
		b.Run(fmt.Sprintf("items/%d", n), func(b *testing.B) {
			for range b.N {
				s := newStage(b, f)
				if v := s.review("1"); len(v.rows) != n || s.app.View() == "" {
					b.Fatal("not all read")
				}
			}
		})
	}
}
