package block

import "testing"

func TestBar(t *testing.T) {
	b := Bar{Parts: []BarPart{{"partly", 1}, {"planned", 0}, {"no such fill", 2}, {"high", -1}}, Max: 4, Mark: 9}
	got := b.Segments()
	if len(got) != 2 || got[0] != (BarSegment{"partly", 0, 25}) || got[1] != (BarSegment{"excluded", 25, 50}) || b.MarkPercent() != 100 {
		t.Errorf("segments %v, mark %v", got, b.MarkPercent())
	}
	if empty := (&Bar{Max: 0, Parts: []BarPart{{"a", 1}}, Mark: -1}); len(empty.Segments()) != 0 || empty.MarkPercent() != -1 {
		t.Error("a bar of nothing has parts")
	}
}
