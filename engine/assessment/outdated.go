package assessment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// listOutdated lists the deliverables whose newest version was made from something else than there is
// now. What the next move drafts anew by itself is none of them.
func listOutdated(tx *store.Tx, a *api.Assessment) ([]api.Outdated, error) {
	out, err := checkSoAOutdated(tx, a)
	if err != nil {
		return nil, err
	}
	for _, look := range []func() (*api.Outdated, error){
		func() (*api.Outdated, error) { return undecidedVersion(tx, a, soa) },
		func() (*api.Outdated, error) { return checkBasisOutdated(tx, a, gap, soa) },
		func() (*api.Outdated, error) { return undecidedVersion(tx, a, gap) },
		func() (*api.Outdated, error) { return checkBasisOutdated(tx, a, maturity, soa) },
		func() (*api.Outdated, error) { return undecidedVersion(tx, a, maturity) },
		func() (*api.Outdated, error) { return checkBasisOutdated(tx, a, poam, gap) },
		func() (*api.Outdated, error) { return checkBasisOutdated(tx, a, poam, maturity) },
		func() (*api.Outdated, error) { return undecidedVersion(tx, a, poam) },
	} {
		o, err := look()
		if err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, *o)
		}
	}
	return out, nil
}

// outdatedWarnings are the messages of what is outdated of a gate's deliverable and of those it rests on.
func outdatedWarnings(tx *store.Tx, a *api.Assessment, gates ...api.Gate) (out []string, err error) {
	all, err := listOutdated(tx, a)
	for _, o := range all {
		if slices.ContainsFunc(gates, func(g api.Gate) bool { return g == o.Gate || slices.Contains(upstreamGates[g], o.Gate) }) {
			out = append(out, o.Message)
		}
	}
	return out, err
}

// upstreamGates names what the deliverable of each gate is made from, also by way of others.
var upstreamGates = map[api.Gate][]api.Gate{
	api.GateGapAnalysis: {api.GateSoA},
	api.GateMaturity:    {api.GateSoA},
	api.GatePOAM:        {api.GateSoA, api.GateGapAnalysis, api.GateMaturity},
}

// undecidedVersion tells of a newest version that waits for its approval where the assessment has gone on
// with an older one, or where a person was asked to decide on what is made from it.
func undecidedVersion[V, I any](tx *store.Tx, a *api.Assessment, k deliverableType[V, I]) (*api.Outdated, error) {
	v, ok, err := k.newestVersion(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || k.version(&v).Status == api.VersionApproved {
		return nil, err
	}
	head := k.version(&v)
	text := fmt.Sprintf("Version %d of the %s is %s", head.VersionNumber, k.gate.Title(), statusPhrase(head.Status))
	approved, ok, err := k.approvedVersion(tx, a)
	switch {
	case err != nil:
		return nil, err
	case ok && a.State.HasReached(k.approvedState()):
		text += fmt.Sprintf(" beside version %d, which is approved and on which the rest builds.", k.version(&approved).VersionNumber)
	default:
		dependent, err := decidedDependent(tx, a, k.gate, head.ID)
		if dependent == "" || err != nil {
			return nil, err
		}
		text += ", and " + dependent + "."
	}
	return &api.Outdated{Gate: k.gate, VersionNumber: head.VersionNumber, Reason: "undecided", Message: text}, nil
}

func statusPhrase(s api.VersionStatus) string {
	if s == api.VersionDraft {
		return "a draft"
	}
	return displayStatus(s)
}

// approvedState is the state that its approval opens.
func (k deliverableType[V, I]) approvedState() api.State {
	at := slices.IndexFunc(api.Moves, func(m api.Move) bool { return m.Gate == k.gate })
	return api.Moves[at].To
}

// decidedDependent names the first deliverable made from a version that is under review or approved already.
func decidedDependent(tx *store.Tx, a *api.Assessment, basis api.Gate, versionID string) (string, error) {
	key := inputPrefixes[basis] + "_version_id"
	for _, gate := range api.Gates {
		if !slices.Contains(upstreamGates[gate], basis) {
			continue
		}
		head, err := newestHeader(tx, a, gate)
		if err != nil {
			return "", err
		}
		if head != nil && head.Inputs[key] == versionID && (head.Status == api.VersionUnderReview || head.Status == api.VersionApproved) {
			return fmt.Sprintf(
				"version %d of the %s, made from it, is %s",
				head.VersionNumber,
				gate.Title(),
				displayStatus(head.Status),
			), nil
		}
	}
	return "", nil
}

// isEarlyDraft tells that a version was drafted before its time; the move there drafts it again.
func (k deliverableType[V, I]) isEarlyDraft(a *api.Assessment, head *api.DeliverableVersion) bool {
	return head.Status == api.VersionDraft && !a.State.HasReached(k.draftedState)
}

// checkSoAOutdated holds the newest Statement of Applicability against the scope and the documents.
func checkSoAOutdated(tx *store.Tx, a *api.Assessment) (out []api.Outdated, err error) {
	v, ok, err := soa.newestVersion(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || soa.isEarlyDraft(a, &v.DeliverableVersion) {
		return nil, err
	}
	add := func(reason, format string, args ...any) {
		out = append(out, api.Outdated{
			Gate: api.GateSoA, VersionNumber: v.VersionNumber, Reason: reason,
			Message: fmt.Sprintf(
				"Version %d of the %s was drafted %s.",
				v.VersionNumber,
				api.GateSoA.Title(),
				fmt.Sprintf(format, args...),
			),
		})
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
	docs, err := documentsInTx(tx, a.OrganizationID, a.ID)
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
	hashes := []string{}
	for _, d := range docs {
		if d.Status == api.DocumentIngested {
			hashes = append(hashes, d.SHA256)
		}
	}
	slices.Sort(hashes)
	return hashJSON(hashes)
}

// checkBasisOutdated holds the newest version of one deliverable against that of another which it builds
// on; nil where it is made from that, or begun by hand.
func checkBasisOutdated[V, I, B, J any](
	tx *store.Tx,
	a *api.Assessment,
	k deliverableType[V, I],
	basis deliverableType[B, J],
) (*api.Outdated, error) {
	v, ok, err := k.newestVersion(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || k.isEarlyDraft(a, k.version(&v)) {
		return nil, err
	}
	head := k.version(&v)
	key := inputPrefixes[basis.gate]
	id, hash := head.Inputs[key+"_version_id"], head.Inputs[key+"_sha256"]
	b, ok, err := basis.basisVersion(tx, a)
	if err != nil || !ok || id == "" {
		return nil, err
	}
	now := basis.version(&b)
	if hash == now.ContentSHA256 {
		return nil, nil // the same, also where it is another version that says it
	}
	was := "an older version"
	switch old, err := basis.versions.Get(tx, a.OrganizationID, id); {
	case err == nil:
		was = fmt.Sprintf("version %d", basis.version(&old).VersionNumber)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	text := fmt.Sprintf("Version %d of the %s was made from %s of the %s", head.VersionNumber, k.gate.Title(), was, basis.gate.Title())
	if id == now.ID {
		text += ", of which lines were changed since."
	} else {
		text += fmt.Sprintf("; version %d is %s.", now.VersionNumber, displayStatus(now.Status))
	}
	return &api.Outdated{Gate: k.gate, VersionNumber: head.VersionNumber, Reason: "basis", Message: text}, nil
}
