package assessment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/store"
)

// outdated lists the deliverables whose newest version was made from something else than there is
// now. What the next move drafts anew by itself is none of them.
func outdated(tx *store.Tx, a *api.Assessment) ([]api.Outdated, error) {
	out, err := outdatedSoA(tx, a)
	if err != nil {
		return nil, err
	}
	ofGap, err1 := outdatedBasis(tx, a, gap, soa, "soa")
	ofMaturity, err2 := outdatedBasis(tx, a, maturity, soa, "soa")
	ofPlan, err3 := outdatedBasis(tx, a, poam, gap, "gap")
	for _, o := range []*api.Outdated{ofGap, ofMaturity, ofPlan} {
		if o != nil {
			out = append(out, *o)
		}
	}
	return out, firstError(err1, err2, err3)
}

// ahead tells that a version was drafted before its time; the move there drafts it again.
func (k kind[V, I]) ahead(a *api.Assessment, head *api.DeliverableVersion) bool {
	return head.Status == api.VersionDraft && !a.State.Reached(k.drafted)
}

// outdatedSoA holds the newest Statement of Applicability against the scope and the documents.
func outdatedSoA(tx *store.Tx, a *api.Assessment) (out []api.Outdated, err error) {
	v, ok, err := soa.newest(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || soa.ahead(a, &v.DeliverableVersion) {
		return nil, err
	}
	add := func(reason, format string, args ...any) {
		out = append(out, api.Outdated{Gate: api.GateSoA, VersionNumber: v.VersionNumber, Reason: reason,
			Message: fmt.Sprintf("Version %d of the %s was drafted %s.", v.VersionNumber, api.GateSoA.Title(), fmt.Sprintf(format, args...))})
	}
	scope, err := store.Scopes.By("assessment").Get(tx, a.OrganizationID, a.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, err
	default:
		hash, err := scopeHash(&scope)
		if err != nil {
			return nil, err
		}
		if hash != v.Inputs["scope"] {
			add("scope", "by an older scope than there is now")
		}
	}
	docs, err := documentsIn(tx, a.OrganizationID, a.ID)
	if err != nil {
		return nil, err
	}
	late := 0
	for _, d := range docs {
		if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
			return out, nil // what is being read is judged when it was read
		}
		if d.Status == api.DocumentIngested && d.CreatedAt.After(v.CreatedAt) {
			late++
		}
	}
	hash, err := documentsHash(docs)
	if err != nil || hash == v.Inputs["documents"] {
		return out, err
	}
	if late > 0 {
		add("documents", "from other documents than there are now: %d came later", late)
	} else {
		add("documents", "from other documents than there are now")
	}
	return out, nil
}

// documentsHash is over what was read of the documents.
func documentsHash(docs []api.Document) (string, error) {
	read := []string{}
	for _, d := range docs {
		if d.Status == api.DocumentIngested {
			read = append(read, d.SHA256)
		}
	}
	slices.Sort(read)
	return hashJSON(read)
}

// outdatedBasis holds the newest version of one deliverable against that of another which it builds
// on, key in its inputs; nil where it is made from that, or begun by hand.
func outdatedBasis[V, I, B, J any](tx *store.Tx, a *api.Assessment, k kind[V, I], on kind[B, J], key string) (*api.Outdated, error) {
	v, ok, err := k.newest(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || k.ahead(a, k.version(&v)) {
		return nil, err
	}
	head := k.version(&v)
	id, hash := head.Inputs[key+"_version_id"], head.Inputs[key+"_sha256"]
	b, ok, err := on.basis(tx, a)
	if err != nil || !ok || id == "" {
		return nil, err
	}
	now := on.version(&b)
	if id == now.ID && hash == now.ContentSHA256 {
		return nil, nil
	}
	was := "an older version"
	switch old, err := on.versions.Get(tx, a.OrganizationID, id); {
	case err == nil:
		was = fmt.Sprintf("version %d", on.version(&old).VersionNumber)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	text := fmt.Sprintf("Version %d of the %s was made from %s of the %s", head.VersionNumber, k.gate.Title(), was, on.gate.Title())
	if id == now.ID {
		text += ", of which lines were changed since."
	} else {
		text += fmt.Sprintf("; version %d is %s.", now.VersionNumber, inWords(now.Status))
	}
	return &api.Outdated{Gate: k.gate, VersionNumber: head.VersionNumber, Reason: "basis", Message: text}, nil
}
