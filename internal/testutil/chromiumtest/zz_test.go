package chromiumtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	b := Start(t)
	link := os.Getenv("LINK")
	base := link[:strings.Index(link[8:], "/")+9]
	b.Emulate("screen", 1440, "light")
	b.Open(link)
	b.WaitFor(`document.querySelector("h1")`)
	list, _ := os.ReadFile(os.Getenv("PAGES"))
	modes := []string{"1440 light", "375 light", "1440 dark", "375 dark"}
	if m := os.Getenv("MODES"); m != "" {
		modes = strings.Split(m, ",")
	}
	for _, l := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		parts := strings.SplitN(l, "\t", 3)
		b.Open(base + parts[1])
		b.WaitFor(`document.querySelector("h1")`)
		if len(parts) == 3 {
			b.tryEvaluate(parts[2])
			for range 3 {
				b.tryEvaluate(`new Promise(r => setTimeout(() => r(1), 300))`)
			}
			b.WaitFor(`document.querySelector("h1")`)
		}
		for _, m := range modes {
			var w int
			var c string
			fmt.Sscan(m, &w, &c)
			b.Emulate("screen", w, c)
			b.Screenshot(os.Getenv("PICTURES"), fmt.Sprintf("%s-%d-%s", parts[0], w, c))
			if bad := b.BadLayout(); bad != "" {
				t.Errorf("%s %s: %s", parts[0], m, bad)
			}
		}
		b.Emulate("screen", 1440, "light")
		if p, ok := b.Inaccessible(); ok && p != "" {
			t.Errorf("%s axe: %s", parts[0], p)
		}
	}
}
