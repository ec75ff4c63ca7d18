package controltext

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRead(t *testing.T) {
	b, err := ReadTable(fstest.MapFS{
		"b.txt": {Data: []byte("BBB-01 | doors | Doors are locked. | Keys are counted.\n")},
		"a.txt": {Data: []byte("# note\n\n AAA-01 |  backups | Backups are made.\n")},
		"c.md":  {Data: []byte("not part of the table")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Entries) != 2 || b.Entries[0].Code != "AAA-01" {
		t.Fatalf("not in the order of the files: %v", b.Entries)
	}
	e, ok := b.Lookup("BBB-01")
	if !ok || e.Topic != "doors" || strings.Join(e.Sentences, "/") != "Doors are locked./Keys are counted." {
		t.Errorf("%+v %v", e, ok)
	}
	if e, ok := b.Lookup("BBB-02"); ok {
		t.Errorf("a code that isn't there found %v", e)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for text, want := range map[string]string{
		"# note\n\nAAA-01 | topic":                "x.txt: line 3: a code, a topic",
		"AAA-01 | topic | | x":                    "x.txt: line 1: field 3",
		"AAA-01 | topic | x\nAAA-01 | topic | y.": "x.txt: line 2: AAA-01 occurs twice in the table",
	} {
		if _, err := ReadTable(fstest.MapFS{"x.txt": {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
