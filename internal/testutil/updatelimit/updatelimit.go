// Package updatelimit fails tests in which one transaction writes so much that it blocks the writes of all other
// organizations for too long.
package updatelimit

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/scf-service/service/store"
)

// The limits of a transaction. An operation that writes more must do so in several transactions that each leave a
// consistent state, and the last of which makes the result visible. See engine/evidence/passage_set.go.
const (
	MaxRecords = 8_000
	MaxBytes   = 16 << 20
)

// exempt lists functions that may exceed the limits, with the reasons.
var exempt = map[string]string{
	"engine/assessment.(*Service).executeMigration": "moves an assessment and writes all four deliverables at once, two records for " +
		"each of at most 1,468 controls",
	"engine/sync.(*Service).join":        "lists every record of an assessment for its first clone, which must not read half of the list",
	"engine/sync.(*Service).linkAsClone": "the same, for an assessment that is published",
}

// Check is to be used as store.Options.CheckUpdate in tests.
func Check(s store.UpdateStats) error {
	if s.Records <= MaxRecords && s.Bytes <= MaxBytes {
		return nil
	}
	callers := make([]uintptr, 50)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	var names []string
	for {
		f, more := frames.Next()
		name := strings.TrimPrefix(f.Function, "github.com/scf-service/service/")
		if _, ok := exempt[name]; ok {
			return nil
		}
		names = append(names, name)
		if !more {
			break
		}
	}
	return fmt.Errorf("the transaction writes %d records and %d bytes, more than %d or %d: split it; called by %s",
		s.Records, s.Bytes, MaxRecords, MaxBytes, strings.Join(names, " < "))
}
