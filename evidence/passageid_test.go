package evidence

import (
	"regexp"
	"testing"
	"time"
)

func TestPassageIDs(t *testing.T) {
	began := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	id := passageID("a", began, "doc", "text", 0)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("%s is no UUIDv7", id)
	}
	if id != passageID("a", began, "doc", "text", 0) {
		t.Error("the same passage has two ids")
	}
	for what, other := range map[string]string{
		"assessment": passageID("b", began, "doc", "text", 0), "document": passageID("a", began, "doc2", "text", 0),
		"passage": passageID("a", began, "doc", "text2", 0), "copy": passageID("a", began, "doc", "text", 1),
	} {
		if other == id {
			t.Errorf("another %s has the same id", what)
		}
	}
}
