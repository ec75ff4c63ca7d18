package document_test

import (
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// TestAddNotRead checks that unread parts are counted by location up to a limit, and beyond it only by kind, so that
// no document has a list of millions.
func TestAddNotRead(t *testing.T) {
	var d document.Document
	for slide := range 300 {
		d.AddNotRead(api.UnreadPicture, 2, api.Locator{Slide: slide / 2})
	}
	d.AddNotRead(api.UnreadComment, 1, api.Locator{Slide: 7})
	d.AddNotRead(api.UnreadChart, 0, api.Locator{})
	if got := api.DescribeNotRead(d.NotRead); got != "600 pictures, 1 comment" || len(d.NotRead) != 101 {
		t.Errorf("%d entries: %s", len(d.NotRead), got)
	}
	if first := d.NotRead[1]; first.Count != 4 || first.Locator.Slide != 1 {
		t.Errorf("%+v", first)
	}
}
