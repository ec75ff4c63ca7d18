package assessment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// listOutdated lists the deliverables whose newest version is based on inputs that have changed. It
// omits those that the next transition will redraft.
func listOutdated(tx *store.Tx, a *api.Assessment) ([]api.Outdated, error) {
	out, err := checkSoAOutdated(tx, a)
	if err != nil {
		return nil, err
	}
	for _, gate := range api.Gates {
		for _, basis := range upstreamGates[gate] {
			o, err := checkBasisOutdated(tx, a, gate, basis)
			if err != nil {
				return nil, err
			}
			if o != nil {
				out = append(out, *o)
			}
		}
		o, err := deliverables[gate].findUnapprovedNewest(tx, a)
		if err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, *o)
		}
	}
	return out, nil
}

// outdatedWarnings returns the messages of listOutdated for the deliverables of the given gates and those that they
// are based on.
func outdatedWarnings(tx *store.Tx, a *api.Assessment, gates ...api.Gate) (out []string, err error) {
	all, err := listOutdated(tx, a)
	for _, o := range all {
		if slices.ContainsFunc(gates, func(g api.Gate) bool { return g == o.Gate || slices.Contains(upstreamGates[g], o.Gate) }) {
			out = append(out, o.Message)
		}
	}
	return out, err
}

// upstreamGates maps each gate to the gates whose deliverables its own is based on, directly or
// indirectly.
var upstreamGates = map[api.Gate][]api.Gate{
	api.GateGapAnalysis: {api.GateSoA},
	api.GateMaturity:    {api.GateSoA},
	api.GatePOAM:        {api.GateSoA, api.GateGapAnalysis, api.GateMaturity},
}

// findUnapprovedNewest returns the newest version as outdated if it lacks an approval that matters,
// because the assessment has continued with an older approved version or a dependent deliverable is
// under review or approved. Otherwise, it returns nil.
func (k deliverableType[V, I]) findUnapprovedNewest(tx *store.Tx, a *api.Assessment) (*api.Outdated, error) {
	v, ok, err := k.currentVersion(tx, a)
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
		text += fmt.Sprintf("; the rest of the assessment is based on the approved version %d", k.version(&approved).VersionNumber)
		if k.version(&approved).ContentSHA256 == head.ContentSHA256 {
			text += ", which has the same content"
		}
		text += "."
	default:
		dependent, err := describeDecidedDependent(tx, a, k.gate, head.ID)
		if dependent == "" || err != nil {
			return nil, err
		}
		text += ", and " + dependent + "."
	}
	return &api.Outdated{Gate: k.gate, VersionNumber: head.VersionNumber, Reason: "unapproved", Message: text}, nil
}

func statusPhrase(s api.VersionStatus) string {
	if s == api.VersionDraft {
		return "a draft"
	}
	return prose.Humanize(s)
}

// approvedState returns the state to which approval of the deliverable leads.
func (k deliverableType[V, I]) approvedState() api.State {
	at := slices.IndexFunc(api.Moves, func(m api.Move) bool { return m.Gate == k.gate })
	return api.Moves[at].To
}

// describeDecidedDependent describes the first deliverable that is based on the given version and is
// under review or approved. It returns "" if there is none.
func describeDecidedDependent(tx *store.Tx, a *api.Assessment, basis api.Gate, versionID string) (string, error) {
	key := inputPrefixes[basis] + "_version_id"
	for _, gate := range api.Gates {
		if !slices.Contains(upstreamGates[gate], basis) {
			continue
		}
		head, err := deliverables[gate].newestHeader(tx, a.OrganizationID, a.ID)
		if err != nil {
			return "", err
		}
		if head != nil && head.Inputs[key] == versionID && (head.Status == api.VersionUnderReview || head.Status == api.VersionApproved) {
			return fmt.Sprintf(
				"version %d of the %s, which is based on this version, is %s",
				head.VersionNumber,
				gate.Title(),
				prose.Humanize(head.Status),
			), nil
		}
	}
	return "", nil
}

// isEarlyDraft reports whether a draft was made before the assessment reached the step at which the
// deliverable is drafted, so that it will be drafted again.
func (k deliverableType[V, I]) isEarlyDraft(a *api.Assessment, head *api.DeliverableVersion) bool {
	return head.Status == api.VersionDraft && !a.State.HasReached(k.draftedState)
}

// checkSoAOutdated checks whether the scope or the documents have changed since the newest Statement of
// Applicability was drafted.
func checkSoAOutdated(tx *store.Tx, a *api.Assessment) (out []api.Outdated, err error) {
	v, ok, err := soaType.newestVersion(tx, a.OrganizationID, a.ID)
	if err != nil || !ok || soaType.isEarlyDraft(a, &v.DeliverableVersion) {
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
			add("scope", "from an older scope")
		}
	}
	change, err := readerChange(tx, &v.DeliverableVersion)
	if err != nil {
		return nil, err
	}
	if change != "" {
		add("reader", "%s", change)
	}
	docs, err := documentsInTx(tx, a.OrganizationID, a.ID)
	if err != nil {
		return nil, err
	}
	late := 0
	for _, d := range docs {
		if d.Status == api.DocumentUploaded || d.Status == api.DocumentProcessing {
			return out, nil // documents still being processed are compared once processed
		}
		if d.Status == api.DocumentIngested && d.CreatedAt.After(v.CreatedAt) {
			late++
		}
	}
	hash, err := ingestedDocumentsHash(docs)
	if err != nil || hash == v.Inputs["documents"] {
		return out, err
	}
	if late > 0 {
		add("documents", "before the documents changed; %d added since", late)
	} else {
		add("documents", "before the documents changed")
	}
	return out, nil
}

// ingestedDocumentsHash returns a hash of the content of all ingested documents.
func ingestedDocumentsHash(docs []api.Document) (string, error) {
	hashes := []string{}
	for _, d := range docs {
		if d.Status == api.DocumentIngested {
			hashes = append(hashes, d.SHA256)
		}
	}
	slices.Sort(hashes)
	return hashJSON(hashes)
}

// checkBasisOutdated checks whether the newest version of a deliverable is based on an outdated version
// of the basis. It returns nil if not, or if the deliverable is not directly based on it.
func checkBasisOutdated(tx *store.Tx, a *api.Assessment, gate, basis api.Gate) (*api.Outdated, error) {
	head, err := deliverables[gate].newestHeader(tx, a.OrganizationID, a.ID)
	if err != nil || head == nil || deliverables[gate].isEarlyDraft(a, head) {
		return nil, err
	}
	key := inputPrefixes[basis]
	id, hash := head.Inputs[key+"_version_id"], head.Inputs[key+"_sha256"]
	if id == "" {
		return nil, nil
	}
	now, err := deliverables[basis].approvedOrNewestHeader(tx, a)
	if err != nil || now == nil || hash == now.ContentSHA256 { // another version may have the same content
		return nil, err
	}
	was := "an older version"
	switch old, err := deliverables[basis].getHeader(tx, a.OrganizationID, id); {
	case err == nil:
		was = fmt.Sprintf("version %d", old.VersionNumber)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	text := fmt.Sprintf("Version %d of the %s is based on %s of the %s", head.VersionNumber, gate.Title(), was, basis.Title())
	if id == now.ID {
		text += ", which has been edited since."
	} else {
		text += fmt.Sprintf("; version %d is %s.", now.VersionNumber, prose.Humanize(now.Status))
	}
	return &api.Outdated{Gate: gate, VersionNumber: head.VersionNumber, Reason: "source", Message: text}, nil
}
