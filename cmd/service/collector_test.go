package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scf-service/service/internal/testutil/tracetest"
)

// startCollector starts a trace collector at $COLLECTOR, or writes the spans that it has received to a file.
func startCollector(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	var running sync.Map // by the script's folder
	return func(ts *testscript.TestScript, neg bool, args []string) {
		here := ts.Getenv("WORK")
		switch {
		case neg:
		case len(args) == 1 && args[0] == "start":
			c := tracetest.Start(t)
			running.Store(here, c)
			ts.Setenv("COLLECTOR", c.URL)
			return
		case len(args) == 2 && args[0] == "wrote":
			c, ok := running.Load(here)
			if !ok {
				ts.Fatalf("start a collector first")
			}
			var b strings.Builder
			for _, s := range c.(*tracetest.Collector).Spans() {
				fmt.Fprintf(&b, "%s kind=%s", s.Name, s.Kind)
				for _, k := range slices.Sorted(maps.Keys(s.Attrs)) {
					fmt.Fprintf(&b, " %s=%s", k, s.Attrs[k])
				}
				b.WriteString("\n")
			}
			for _, h := range c.(*tracetest.Collector).Headers() {
				fmt.Fprintf(&b, "x-collector-key: %s\n", h.Get("x-collector-key"))
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
			return
		}
		ts.Fatalf("usage: collector start, collector wrote FILE")
	}
}
