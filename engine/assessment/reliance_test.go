package assessment

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func quote(document, passage, stance string) api.Evidence {
	return api.Evidence{
		DocumentID: document, Filename: document + ".md", ChunkID: document + passage, SHA256: passage, Quote: passage, Stance: stance,
	}
}

// samePassage treats passages with the same hash as copies, as if each document contained all of the given
// passages.
func samePassage(passages map[string]string) func(*api.Evidence, string) bool {
	return func(e *api.Evidence, document string) bool {
		for _, p := range passages[document] {
			if string(p) == e.SHA256 {
				return true
			}
		}
		return false
	}
}

// TestRestsOnDocuments checks how many documents the verdict of a line depends on.
func TestRestsOnDocuments(t *testing.T) {
	a1, d1 := quote("a", "1", "supports"), quote("d", "1", "supports")
	line := func(status api.Implementation, quotes ...api.Evidence) *api.SoAItem {
		return &api.SoAItem{Applicability: api.Applicable, ImplementationStatus: status, Evidence: quotes}
	}
	excluded := line(api.NotAssessed, quote("a", "1", "supports"))
	excluded.Applicability = api.NotApplicable
	held := map[string]string{"a": "12", "b": "12", "c": "3", "d": "13"}
	for name, c := range map[string]struct {
		item *api.SoAItem
		want int
	}{
		"nothing":                   {line(api.NotEvidenced), 0},
		"not evidenced":             {line(api.NotEvidenced, quote("a", "1", "limits")), 0},
		"excluded":                  {excluded, 0},
		"one":                       {line(api.Implemented, a1, quote("a", "2", "supports")), 1},
		"two":                       {line(api.Implemented, a1, quote("c", "3", "supports")), 2},
		"a copy":                    {line(api.Implemented, a1, quote("b", "1", "supports")), 1},
		"another part of a copy":    {line(api.Implemented, a1, quote("b", "2", "supports")), 1},
		"a part of a longer one":    {line(api.Implemented, a1, d1, quote("d", "3", "supports")), 1},
		"one of three contradicts":  {line(api.PartiallyImplemented, quote("a", "1", "supports"), quote("c", "3", "conflicts")), 1},
		"two of three contradict":   {line(api.NotImplemented, quote("a", "1", "denies"), quote("c", "3", "denies"), d1), 2},
		"a plan and a half measure": {line(api.Planned, quote("a", "1", "plans"), quote("c", "3", "limits")), 2},
	} {
		got := len(documentsOf(independentQuotes(c.item, samePassage(held))))
		if got != c.want {
			t.Errorf("%s: %d documents, not %d", name, got, c.want)
		}
	}
}

// TestChangedByDocument checks when a line names the document that changed its verdict.
func TestChangedByDocument(t *testing.T) {
	line := func(status api.Implementation, by string, quotes ...api.Evidence) *api.SoAItem {
		return &api.SoAItem{
			Applicability:        api.Applicable,
			ImplementationStatus: status,
			ChangedByDocument:    by,
			ChangedFrom:          api.NotEvidenced,
			Evidence:             quotes,
		}
	}
	byHand := func(i *api.SoAItem) *api.SoAItem {
		i.EditedFields = []string{"implementation_status"}
		return i
	}
	old, older := quote("a", "1", "limits"), quote("b", "2", "supports")
	fresh, other := quote("x", "9", "supports"), quote("y", "8", "supports")
	edited, renamed, again := quote("a", "7", "supports"), fresh, quote("z", "9", "supports")
	renamed.Filename = "policy.md"
	for name, c := range map[string]struct {
		before, after *api.SoAItem
		added         string // documents that are new or have new content
		approved      bool
		want          string
	}{
		"a first draft":                {nil, line(api.Implemented, "", fresh), "", false, ""},
		"the same verdict":             {line(api.Implemented, "", old), line(api.Implemented, "", old, fresh), "x", false, ""},
		"one new document":             {line(api.NotEvidenced, "", old), line(api.Implemented, "", old, fresh), "x", false, "x.md"},
		"one of two new ones":          {line(api.NotEvidenced, "", old), line(api.Implemented, "", old, fresh), "xy", false, "x.md"},
		"an edited document":           {line(api.NotEvidenced, "", old), line(api.Implemented, "", edited), "a", false, "a.md"},
		"the same words, now approved": {line(api.Planned, "", old), line(api.Implemented, "", old), "a", false, "a.md"},
		"edited elsewhere":             {line(api.NotEvidenced, "", old), line(api.Implemented, "", old, fresh), "ax", false, "x.md"},
		"two new documents":            {line(api.NotEvidenced, "", old), line(api.Implemented, "", fresh, other), "xy", false, ""},
		"a document that is gone":      {line(api.Implemented, "", old, older), line(api.PartiallyImplemented, "", old), "", false, ""},
		"another one in its place":     {line(api.Implemented, "", old), line(api.PartiallyImplemented, "", fresh), "", false, ""},
		"drafted again":                {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", fresh), "", false, "x.md"},
		"drafted again, renamed":       {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", renamed), "", false, "policy.md"},
		"deleted and added again":      {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", again), "z", false, "x.md"},
		"copied from, then deleted":    {line(api.Implemented, "x.md", fresh), line(api.NotEvidenced, "", again), "", false, ""},
		"deleted and worded anew":      {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", other), "y", false, "x.md"},
		"deleted beside its copy":      {line(api.Implemented, "x.md", fresh), line(api.PartiallyImplemented, "", other), "", false, "x.md"},
		"as it was before":             {line(api.Implemented, "x.md", fresh), line(api.NotEvidenced, "", old), "", false, ""},
		"drafted again, beside others": {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", fresh, other), "y", false, "x.md"},
		"another verdict later":        {line(api.Implemented, "x.md", fresh), line(api.PartiallyImplemented, "", fresh), "", false, "x.md"},
		"another verdict by another":   {line(api.Implemented, "x.md", fresh), line(api.Planned, "", fresh, other), "y", false, "y.md"},
		"drafted again, without it":    {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", old), "", false, "x.md"},
		"drafted again, once approved": {line(api.Implemented, "x.md", fresh), line(api.Implemented, "", fresh), "", true, ""},
		"nothing left for now":         {line(api.PartiallyImplemented, "x.md", fresh), line(api.Planned, ""), "", false, "x.md"},
		"set by hand":                  {line(api.NotEvidenced, "", old), byHand(line(api.Implemented, "", fresh)), "x", false, ""},
		"no longer set by hand":        {byHand(line(api.NotEvidenced, "", old)), line(api.Implemented, "", fresh), "x", false, ""},
		"back in scope":                {line(api.NotAssessed, ""), line(api.Implemented, "", fresh), "x", false, ""},
	} {
		markReliance(c.after, c.before, decidingQuotes(c.after), c.approved, func(d string) bool { return strings.Contains(c.added, d) })
		if c.after.ChangedByDocument != c.want || (c.after.ChangedFrom != "") != (c.want != "") {
			t.Errorf("%s: %q, not %q", name, c.after.ChangedByDocument, c.want)
		}
	}
	excluded := line(api.NotAssessed, "", fresh)
	excluded.Applicability = api.OutOfScope
	if markReliance(excluded, nil, excluded.Evidence, false, nil); excluded.RestsOnDocuments != 0 {
		t.Errorf("an excluded line rests on %d documents", excluded.RestsOnDocuments)
	}
}

// TestNewDocuments checks which documents are new to a version.
func TestNewDocuments(t *testing.T) {
	read := func(id, content string) api.Document {
		return api.Document{TenantRecord: api.TenantRecord{Record: api.Record{ID: id}}, SHA256: content, Status: api.DocumentIngested}
	}
	old := []api.Document{read("same", "1"), read("edited", "2"), read("deleted", "3")}
	now := map[string]api.Document{"same": read("same", "1"), "edited": read("edited", "4"), "again": read("again", "3")}
	for id := range now {
		if got := newDocumentPredicate(now, map[string]string{documentKeysInput: ingestedDocumentKeys(old)})(id); got != (id != "same") {
			t.Errorf("%s: new %v", id, got)
		}
		if newDocumentPredicate(now, map[string]string{"documents": "x"})(id) {
			t.Errorf("%s is new to a version that doesn't list its documents", id)
		}
		if !newDocumentPredicate(now, map[string]string{documentKeysInput: ""})(id) {
			t.Errorf("%s isn't new to a version without documents", id)
		}
	}
}

// TestRecountDocuments checks that an imported line can't claim more documents than it quotes.
func TestRecountDocuments(t *testing.T) {
	for claimed, want := range map[int]int{0: 2, 1: 1, 2: 2, 12: 2, -1: 2} {
		i := &api.SoAItem{
			Applicability: api.Applicable, ImplementationStatus: api.Implemented, RestsOnDocuments: claimed, OnlyDocument: "unquoted.md",
			Evidence: []api.Evidence{quote("a", "1", "supports"), quote("b", "1", "supports"), quote("c", "3", "supports")},
		}
		if correctReliedOnDocuments(i); i.RestsOnDocuments != want {
			t.Errorf("of %d claimed documents %d remain, not %d", claimed, i.RestsOnDocuments, want)
		}
		if only := i.OnlyDocument; (only == "a.md") != (want == 1) || only != "" && want != 1 {
			t.Errorf("of %d documents the only one is %q", want, only)
		}
	}
}
