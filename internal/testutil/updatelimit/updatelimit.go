// Package updatelimit fails tests in which one transaction writes so much that it keeps all other organizations
// from writing.
package updatelimit

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/scf-service/service/store"
)

// The limits of one transaction. An operation that writes more has to do so in several that leave a consistent
// state, the last of which makes the result visible: see engine/evidence/passage_set.go.
const (
	MaxRecords = 8_000
	MaxBytes   = 16 << 20
)

// exempt lists functions that may exceed the limits, with the reason.
var exempt = map[string]string{
	"engine/assessment.(*Service).executeMigration": "moves an assessment and writes all four deliverables at once, two records for " +
		"each of at most 1,468 controls",
	"engine/sync.(*Service).join":        "lists every record of an assessment for its first clone, which must not read half of the list",
	"engine/sync.(*Service).linkAsClone": "the same, for an assessment that is published",
}

// Check is store.Options.CheckUpdate for tests.
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
