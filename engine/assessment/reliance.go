package assessment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/evidence/dedup"
	"github.com/scf-service/service/store"
)

// A single document can determine the verdicts of many items. Therefore, each item shows the number
// of documents that its verdict is based on, and the name of the document that has changed the
// verdict since the previous draft. Both are derived from the evidence and the previous version, so
// the content hash ignores them.

// independentQuotes returns the quotes that decide an item's automatic verdict, without those from
// documents that only repeat other documents, because a copy is not independent confirmation.
// isRepeated reports whether another document contains nearly the same passage as a quote.
func independentQuotes(i *api.SoAItem, isRepeated func(quote *api.Evidence, document string) bool) []api.Evidence {
	if !i.Applicability.IsApplicable() || i.ImplementationStatus == api.NotEvidenced || i.ImplementationStatus == api.NotAssessed {
		return nil
	}
	quotes := decidingQuotes(i)
	documents := documentsOf(quotes)
	for _, d := range slices.Backward(slices.Clone(documents)) { // newest first, so that the oldest of several copies is kept
		others := slices.DeleteFunc(slices.Clone(documents), func(o string) bool { return o == d })
		if !slices.ContainsFunc(quotes, func(e api.Evidence) bool {
			return e.DocumentID == d && !slices.ContainsFunc(others, func(o string) bool { return isRepeated(&e, o) })
		}) {
			documents = others
		}
	}
	return slices.DeleteFunc(slices.Clone(quotes), func(e api.Evidence) bool { return !slices.Contains(documents, e.DocumentID) })
}

// decidingQuotes returns the quotes that decide the automatic verdict: the quotes that contradict
// the control or, if there are none, all quotes.
func decidingQuotes(i *api.SoAItem) []api.Evidence {
	supports := func(e api.Evidence) bool { return e.Stance != "denies" && e.Stance != "conflicts" }
	if contradicting := slices.DeleteFunc(slices.Clone(i.Evidence), supports); len(contradicting) > 0 {
		return contradicting
	}
	return i.Evidence
}

// documentsOf returns the documents that quotes come from, oldest first.
func documentsOf(quotes []api.Evidence) (out []string) {
	for _, e := range quotes {
		if !slices.Contains(out, e.DocumentID) {
			out = append(out, e.DocumentID)
		}
	}
	slices.Sort(out)
	return out
}

// copyFinder determines which passages of an evaluation are repeated in other documents. It indexes
// each document on first use. It is safe for concurrent use.
type copyFinder struct {
	query     *evidence.PersistentQuery
	mu        sync.Mutex
	documents map[string]*documentCopies
}

// documentCopies holds the index of a document's passages and the results of checks for repeated passages.
type documentCopies struct {
	slots     []int
	once      sync.Once
	index     *dedup.Index
	positions map[string]int // in the index, by the passage's ID
	mu        sync.Mutex
	repeats   map[string]bool // known results: whether the document repeats the passage with this hash
}

// forgetChangedDocuments forgets documents that have been changed or deleted.
func (c *copyFinder) forgetChangedDocuments() {
	maps.DeleteFunc(c.documents, func(id string, d *documentCopies) bool { return !slices.Equal(d.slots, c.query.DocumentSlots(id)) })
}

// isRepeated reports whether a document contains nearly the same passage as a quote.
func (c *copyFinder) isRepeated(quote *api.Evidence, document string) bool {
	d := c.loadOrIndex(document)
	d.mu.Lock()
	defer d.mu.Unlock()
	result, known := d.repeats[quote.SHA256]
	if !known {
		from := c.loadOrIndex(quote.DocumentID)
		n, exists := from.positions[quote.ChunkID]
		result = exists && d.index.Contains(from.index, n)
		d.repeats[quote.SHA256] = result
	}
	return result
}

func (c *copyFinder) loadOrIndex(document string) *documentCopies {
	c.mu.Lock()
	d := c.documents[document]
	if d == nil {
		d = &documentCopies{slots: c.query.DocumentSlots(document)}
		c.documents[document] = d
	}
	c.mu.Unlock()
	d.once.Do(func() {
		d.positions, d.repeats = make(map[string]int, len(d.slots)), map[string]bool{}
		texts := make([]string, len(d.slots))
		for n, slot := range d.slots {
			p, _ := c.query.PassageAt(slot)
			d.positions[p.ID], texts[n] = n, p.Text
		}
		d.index = dedup.NewIndex(texts)
	})
	return d
}

// documentKeysInput is the name of the input in which a version lists the keys of the documents it was
// drafted from.
const documentKeysInput = "document_keys"

// documentKey returns a key that is different for every document, and for different contents of a
// document.
func documentKey(d *api.Document) string {
	sum := sha256.Sum256([]byte(d.ID + d.SHA256))
	return hex.EncodeToString(sum[:8])
}

// ingestedDocumentKeys returns the sorted keys of the documents whose content has been read.
func ingestedDocumentKeys(docs []api.Document) string {
	keys := []string{}
	for n := range docs {
		if docs[n].Status == api.DocumentIngested {
			keys = append(keys, documentKey(&docs[n]))
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// newDocumentPredicate returns a function that reports whether a document is new or has changed since a version
// with the given inputs was drafted. If the inputs list no documents, no document counts as new.
func newDocumentPredicate(documents map[string]api.Document, inputs map[string]string) func(id string) bool {
	list, known := inputs[documentKeysInput]
	old := strings.Fields(list)
	return func(id string) bool {
		d := documents[id]
		_, isOld := slices.BinarySearch(old, documentKey(&d))
		return known && !isOld
	}
}

// markReliance records on a draft's item whether its verdict relies on a single document or was changed
// by one. previous is the same item in the previous version, or nil; quotes are the independent quotes
// that decide the automatic verdict.
func markReliance(i, previous *api.SoAItem, quotes []api.Evidence, previousApproved bool, isNew func(document string) bool) {
	clearReliance(i)
	if !i.Applicability.IsApplicable() {
		return
	}
	if i.RestsOnDocuments = len(documentsOf(quotes)); i.RestsOnDocuments == 1 {
		i.OnlyDocument = quotes[0].Filename
	}
	if previous == nil || i.IsStatusOverruled() || previous.IsStatusOverruled() ||
		!previous.Applicability.IsApplicable() || previous.ImplementationStatus == api.NotAssessed {
		return
	}
	// A mark remains until the verdict has been approved or has reverted to what it was before. It
	// remains even if the document was deleted, because another document with the same content may
	// have replaced it.
	before, changedBy := previous.ImplementationStatus, ""
	if previous.ChangedByDocument != "" && !previousApproved {
		before, changedBy = previous.ChangedFrom, currentDocumentName(previous, quotes)
	}
	if i.ImplementationStatus == before {
		return
	}
	if i.ImplementationStatus != previous.ImplementationStatus {
		changedBy = cmp.Or(onlyNewDocument(quotes, previous, isNew), changedBy)
	}
	if changedBy != "" {
		i.ChangedByDocument, i.ChangedFrom = changedBy, before
	}
}

func clearReliance(i *api.SoAItem) {
	i.RestsOnDocuments, i.OnlyDocument, i.ChangedByDocument, i.ChangedFrom = 0, "", "", ""
}

// currentDocumentName returns the current name of the document that changed the previous verdict. It looks up the name
// in the quotes, because the document may have been renamed.
func currentDocumentName(previous *api.SoAItem, quotes []api.Evidence) string {
	for _, e := range quotes {
		if slices.ContainsFunc(previous.Evidence, func(p api.Evidence) bool {
			return p.Filename == previous.ChangedByDocument && p.DocumentID == e.DocumentID
		}) {
			return e.Filename
		}
	}
	return previous.ChangedByDocument
}

// onlyNewDocument returns the name of the only new document among the quoted ones. If there are several,
// it considers only those with passages that previous didn't quote. It returns "" unless exactly one
// remains.
func onlyNewDocument(quotes []api.Evidence, previous *api.SoAItem, isNew func(document string) bool) string {
	added := slices.DeleteFunc(slices.Clone(quotes), func(e api.Evidence) bool { return !isNew(e.DocumentID) })
	if len(documentsOf(added)) > 1 {
		added = slices.DeleteFunc(added, func(e api.Evidence) bool {
			return slices.ContainsFunc(previous.Evidence, func(p api.Evidence) bool { return p.SHA256 == e.SHA256 })
		})
	}
	if len(documentsOf(added)) != 1 {
		return ""
	}
	return added[0].Filename
}

// correctReliedOnDocuments corrects the number and the name of the documents that an item received from a clone
// claims to rely on. It recognizes copies only if the item quotes both. The clone's claim about which document
// changed the verdict is kept, because checking it would require drafting again.
func correctReliedOnDocuments(i *api.SoAItem) {
	all := decidingQuotes(i)
	quotes := independentQuotes(i, func(quote *api.Evidence, document string) bool {
		return slices.ContainsFunc(all, func(o api.Evidence) bool {
			return o.DocumentID == document && (o.SHA256 == quote.SHA256 || o.Quote == quote.Quote)
		})
	})
	if n := len(documentsOf(quotes)); i.RestsOnDocuments < 1 || i.RestsOnDocuments > n {
		i.RestsOnDocuments = n
	}
	isQuoted := slices.ContainsFunc(all, func(e api.Evidence) bool { return e.Filename == i.OnlyDocument })
	switch {
	case i.RestsOnDocuments != 1:
		i.OnlyDocument = ""
	case !isQuoted:
		i.OnlyDocument = quotes[0].Filename
	}
}

// gateWarnings returns warnings for the person who decides at a gate, about outdated inputs, about
// owners who have left the organization and, for the Statement of Applicability, about items that
// nobody has reviewed, items implemented without evidence, and verdicts that depend on a single document.
func gateWarnings(tx *store.Tx, owners *ownersOfVersions, a *api.Assessment, p *api.Approval) ([]string, error) {
	out, err := outdatedWarnings(tx, a, p.Gate)
	if err != nil {
		return nil, err
	}
	head, err := deliverables[p.Gate].getHeader(tx, a.OrganizationID, p.TargetID)
	if err != nil {
		return nil, err
	}
	left, err := owners.warnings(tx, p.Gate, head)
	out = append(out, left...)
	if err != nil || p.Gate != api.GateSoA {
		return out, err
	}
	v, err := soaType.getVersion(tx, a.OrganizationID, p.TargetID)
	if err != nil {
		return nil, err
	}
	return append(out, v.Warnings()...), nil
}
