package parse

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"
)

func TestDump(t *testing.T) {
	f := os.Getenv("DUMP")
	if f == "" {
		t.Skip()
	}
	raw, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := New(Options{})
	d, err := r.Read(context.Background(), f, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s title=%q lang=%s pages=%d eff=%v ver=%q owner=%q appr=%q warn=%v\n", d.MIME, d.Title, d.Language, d.PageCount, d.Effective, d.Version, d.Owner, d.ApprovedBy, d.Warnings)
	for _, b := range d.Blocks {
		fmt.Printf("%-10s %d %v %q %+v\n", b.Kind, b.Level, b.HeadingPath, b.Text, b.Locator)
	}
	for _, b := range d.Furniture {
		fmt.Printf("FURN %q\n", b.Text)
	}
}
