package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// A file that can't be read doesn't use the budget of the others in an archive.
func TestUnreadableMemberUsesNoBudget(t *testing.T) {
	fail := errors.New("damaged at its end")
	b := NewBuilder(t.Context(), Options{MaxText: 10_000, MaxBytes: 100, ReadDocument: func(b *Builder, name string, _ []byte) error {
		b.AddBlock(Block{Kind: Paragraph, Text: strings.Repeat("x", 6000)})
		if name == "good" {
			return b.Err()
		}
		return errors.Join(fail, b.Err())
	}})
	c := b.NewContainer()
	for _, name := range []string{"bad", "bad", "good"} {
		if err := c.AddMember(name, []byte("content")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if b.budget.blocks != maxBlocks-2 { // the member's heading counts too
		t.Errorf("%d blocks were counted, want 2", maxBlocks-b.budget.blocks)
	}
	if err := c.AddMember("good", []byte("content")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// TestWarningsOfParts checks that a document has the warnings of its parts once, and those of members under their names.
func TestWarningsOfParts(t *testing.T) {
	b := NewBuilder(t.Context(), Options{MaxText: 10_000, MaxBytes: 100, ReadDocument: func(b *Builder, _ string, _ []byte) error {
		part := b.NewPart()
		part.NewTableWriter().AddRow(make([]string, MaxColumns+1), api.Locator{})
		b.AppendPart(part)
		b.AppendPart(part)
		return b.Err()
	}})
	if err := b.NewContainer().AddMember("a.html", []byte("content")); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("a.html: A table has more than %d columns; the columns after that were skipped.", MaxColumns)}
	if !slices.Equal(b.Doc.Warnings, want) {
		t.Errorf("got %q, want %q", b.Doc.Warnings, want)
	}
}
