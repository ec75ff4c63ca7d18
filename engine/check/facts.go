package check

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// Facts holds the assessment results that a policy can refer to.
type Facts struct {
	Subject    Subject  `json:"subject"`
	Catalog    Catalog  `json:"catalog"`
	Frameworks []string `json:"frameworks"`
	// Domains lists the domains the facts are restricted to; empty for all.
	Domains []string `json:"domains,omitempty"`
	// Basis identifies what the newest Statement of Applicability was drafted from.
	Basis    Basis     `json:"basis"`
	Controls []Control `json:"controls"`
	// HasGapAnalysis and Rated report whether a gap analysis and a maturity assessment exist.
	HasGapAnalysis bool       `json:"has_gap_analysis"`
	HasMaturity    bool       `json:"has_maturity"`
	Findings       []Finding  `json:"findings"`
	Documents      []Document `json:"documents"`
	Approvals      []Approval `json:"approvals"`

	// excludedControls holds the controls, in upper case, that Filter removed.
	excludedControls map[string]bool
}

// Subject identifies what was checked: a folder of evidence or an assessment.
type Subject struct {
	Kind string `json:"kind"` // folder or assessment
	Name string `json:"name"`
	ID   string `json:"id,omitempty"`
}

// Folder is the kind of a subject that was assessed only for the check and therefore has no approvals.
const Folder = "folder"

// Catalog identifies the version of the catalog that the controls belong to.
type Catalog struct {
	Label   string `json:"label"`
	Starter bool   `json:"is_starter"`
}

// Control is an item of the Statement of Applicability with its maturity.
type Control struct {
	Code          string             `json:"code"`
	Title         string             `json:"title"`
	Domain        string             `json:"domain"`
	Frameworks    []string           `json:"frameworks"`
	Applicability api.Applicability  `json:"applicability"`
	Status        api.Implementation `json:"status"`
	// Level is nil if there was no evidence to rate.
	Level *int `json:"level"`
	// Decided is set if a person has set the status or the applicability, or if people's
	// corrections changed the readings of passages.
	Decided bool `json:"decided,omitempty"`
	// OnlyDocument is the name of the only document that the status is based on. ChangedByDocument
	// is the name of the document that changed the status.
	OnlyDocument      string `json:"only_document,omitempty"`
	ChangedByDocument string `json:"changed_by_document,omitempty"`
	// Evidence, Wording and Requirements identify the control's quotes, its text in the catalog, and the requirements that it
	// satisfies.
	Evidence     string `json:"evidence_hash,omitempty"`
	Wording      string `json:"wording_hash,omitempty"`
	Requirements string `json:"requirements_hash,omitempty"`
}

// Finding is a gap with its location in the evidence.
type Finding struct {
	Fingerprint string             `json:"fingerprint"`
	Control     string             `json:"control"`
	Title       string             `json:"title"`
	Domain      string             `json:"domain"`
	Frameworks  []string           `json:"frameworks"`
	Severity    api.Severity       `json:"severity"`
	Status      api.Implementation `json:"status"`
	Result      api.Result         `json:"result"`
	Condition   string             `json:"condition"`
	Missing     []string           `json:"missing"`
	// Decided is set if a person has added the gap, or set its status or severity.
	Decided bool   `json:"decided,omitempty"`
	Fix     string `json:"fix"`
	Place   Place  `json:"place"`
}

// Place is the location of the passage a finding is based on; empty if there is none.
type Place struct {
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	End   int    `json:"end_line,omitempty"`
	Page  int    `json:"page,omitempty"`
	Quote string `json:"quote,omitempty"`
}

// Document is a file of evidence.
type Document struct {
	Path          string   `json:"path"`
	SHA256        string   `json:"sha256"`
	EffectiveDate api.Date `json:"effective_date,omitempty"`
	// ReadError is the reason the file could not be read.
	ReadError string `json:"read_error,omitempty"`
	// NotRead counts the unread parts of the file by kind, such as images.
	NotRead []api.NotRead `json:"not_read"`
}

// Approval is the status of the approval at a gate.
type Approval struct {
	Gate    api.Gate      `json:"gate"`
	State   ApprovalState `json:"state"`
	Version int           `json:"version,omitempty"`
	By      string        `json:"by,omitempty"`
}

// ApprovalState states whether the current content of a deliverable is approved.
type ApprovalState string

// Approval states.
const (
	Approved     ApprovalState = "approved"
	Pending      ApprovalState = "pending"
	Rejected     ApprovalState = "rejected"
	Void         ApprovalState = "void"
	NotSubmitted ApprovalState = "not_submitted"
	NotDrafted   ApprovalState = "not_drafted"
)

// Records holds the assessment records that facts are derived from. Each version is the newest one,
// or nil if there is none.
type Records struct {
	Assessment api.Assessment
	Catalog    api.CatalogVersion
	Versions   map[api.Gate]*api.DeliverableVersion
	Items      []api.SoAItem
	Findings   []api.Finding
	Scores     []api.MaturityScore
	Documents  []api.Document
	Approvals  []api.Approval
}

// NewFacts derives facts from records. Text from evidence is sanitized, so that it is safe in every output format.
func NewFacts(r *Records) *Facts {
	f := &Facts{
		Subject: Subject{
			Kind: "assessment",
			Name: sanitizeLine(r.Assessment.Name),
			ID:   r.Assessment.ID,
		}, Catalog: Catalog{Label: sanitizeLine(r.Catalog.Label), Starter: r.Catalog.IsStarter},
		Frameworks: append(
			[]string{},
			r.Assessment.Frameworks...), HasGapAnalysis: r.Versions[api.GateGapAnalysis] != nil, HasMaturity: r.Versions[api.GateMaturity] != nil,
		Basis:    newBasis(r.Versions[api.GateSoA]),
		Controls: []Control{}, Findings: []Finding{}, Documents: []Document{}, Approvals: []Approval{},
	}
	slices.Sort(f.Frameworks)
	levels := map[string]*int{}
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Assessed {
			levels[s.ControlCode] = &s.Level
		}
	}
	for i := range r.Items {
		it := &r.Items[i]
		only, changing := it.SingleDocuments()
		f.Controls = append(f.Controls, Control{
			Code: sanitizeLine(
				it.ControlCode,
			), Title: sanitizeLine(it.ControlTitle), Domain: sanitizeLine(it.DomainCode), Frameworks: frameworkCodes(it.RequirementCodes),
			Applicability: it.Applicability, Status: it.ImplementationStatus, Level: levels[it.ControlCode],
			Decided:      it.IsManual("implementation_status") || it.IsManual("applicability") || it.IsCorrected(),
			OnlyDocument: sanitizeLine(only), ChangedByDocument: sanitizeLine(changing),
			Evidence: evidenceHash(it), Wording: wordingHash(it), Requirements: requirementsHash(it),
		})
	}
	slices.SortStableFunc(f.Controls, func(a, b Control) int { return cmp.Compare(a.Code, b.Code) })
	paths := map[string]string{}
	for i := range r.Documents {
		d := &r.Documents[i]
		one := Document{
			Path: replaceControlCharacters(cmp.Or(d.Path, d.Filename)), SHA256: d.SHA256, NotRead: api.SumNotRead(d.NotRead),
		}
		if d.EffectiveDate != nil {
			one.EffectiveDate = *d.EffectiveDate
		}
		if d.Status == api.DocumentFailed {
			one.ReadError = "the file can't be read"
			if d.Error != nil {
				one.ReadError = sanitizeLine(*d.Error)
			}
		}
		for i := range one.NotRead {
			one.NotRead[i].Kind, one.NotRead[i].Language = sanitizeLine(one.NotRead[i].Kind), sanitizeLine(one.NotRead[i].Language)
		}
		paths[d.ID] = one.Path
		f.Documents = append(f.Documents, one)
	}
	slices.SortStableFunc(f.Documents, func(a, b Document) int { return cmp.Compare(a.Path, b.Path) })
	found := slices.Clone(r.Findings)
	slices.SortStableFunc(found, func(a, b api.Finding) int {
		return cmp.Or(cmp.Compare(a.ControlCode, b.ControlCode), cmp.Compare(b.Source, a.Source)*-1, cmp.Compare(a.Condition, b.Condition))
	})
	seen := map[string]int{}
	for i := range found {
		f.Findings = append(f.Findings, toFinding(&found[i], paths, seen))
	}
	for _, g := range api.Gates {
		f.Approvals = append(f.Approvals, approvalAtGate(g, r))
	}
	return f
}

func toFinding(f *api.Finding, paths map[string]string, seen map[string]int) Finding {
	out := Finding{
		Control: sanitizeLine(
			f.ControlCode,
		),
		Title:      sanitizeLine(f.ControlTitle),
		Domain:     sanitizeLine(f.DomainCode),
		Frameworks: frameworkCodes(f.RequirementCodes),
		Severity:   f.Severity,
		Status:     f.Status,
		Result:     f.Result,
		Condition:  sanitizeLine(f.Condition),
		Missing:    []string{},
		Fix:        sanitizeLine(f.Recommendation),
		Decided:    f.Source == "manual" || f.IsManual("status") || f.IsManual("severity"),
	}
	out.Fingerprint = fingerprint("gap", out.Control, strconv.Itoa(seen[out.Control]))
	seen[out.Control]++
	for _, m := range f.MissingElements {
		out.Missing = append(out.Missing, sanitizeLine(m))
	}
	if len(f.Evidence) > 0 {
		e := &f.Evidence[0]
		out.Place = Place{
			Path:  cmp.Or(paths[e.DocumentID], replaceControlCharacters(e.Filename)),
			Line:  e.Locator.LineStart,
			End:   max(e.Locator.LineStart, e.Locator.LineEnd),
			Page:  e.Locator.Page,
			Quote: prose.Truncate(sanitizeLine(e.Quote), 300),
		}
	}
	return out
}

func frameworkCodes(codes api.RequirementCodes) []string {
	out := []string{}
	for f := range codes {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

// approvalAtGate returns the approval status of a gate. A decision counts only for the exact content that
// was decided on, and also for a later draft with that content.
func approvalAtGate(g api.Gate, r *Records) Approval {
	out := Approval{Gate: g, State: NotDrafted}
	v := r.Versions[g]
	if v == nil {
		return out
	}
	out.Version, out.State = v.VersionNumber, NotSubmitted
	var newest *api.Approval
	for i := range r.Approvals {
		a := &r.Approvals[i]
		if a.Gate != g {
			continue
		}
		if newest == nil || a.RequestedAt.After(newest.RequestedAt) {
			newest = a
		}
		if v.Status == api.VersionApproved && a.TargetID == v.ID && a.Status == api.ApprovalApproved && a.TargetSHA256 == v.ContentSHA256 {
			out.State = Approved
			if a.DecidedBy != nil {
				out.By = sanitizeLine(a.DecidedBy.Name)
			}
		}
	}
	if same := approvalOfSameContent(g, r); v.Status == api.VersionDraft && same != nil {
		out.State = Approved
		if same.DecidedBy != nil {
			out.By = sanitizeLine(same.DecidedBy.Name)
		}
	}
	migrated := r.Assessment.MigratedAt != nil && v.CreatedAt.Before(*r.Assessment.MigratedAt)
	switch {
	case migrated, v.Status == api.VersionApproved && out.State != Approved:
		out.State, out.By = Void, ""
	case out.State == Approved:
	case v.Status == api.VersionUnderReview:
		out.State = Pending
	case newest != nil && newest.Status == api.ApprovalRejected && !newest.Void:
		out.State = Rejected
	case newest != nil && (newest.Void || newest.Status == api.ApprovalApproved):
		out.State = Void // decided on, but changed since
	}
	return out
}

// approvalOfSameContent returns the last approval at a gate if it is about the content of the newest version and that
// content hasn't been rejected since. Otherwise, it returns nil.
func approvalOfSameContent(g api.Gate, r *Records) (last *api.Approval) {
	for i := range r.Approvals {
		a := &r.Approvals[i]
		decides := a.Status == api.ApprovalApproved || a.Status == api.ApprovalRejected && a.TargetSHA256 == r.Versions[g].ContentSHA256
		if a.Gate == g && !a.Void && decides && a.DecidedAt != nil && (last == nil || a.DecidedAt.After(*last.DecidedAt)) {
			last = a
		}
	}
	if last == nil || last.Status != api.ApprovalApproved || last.TargetSHA256 != r.Versions[g].ContentSHA256 {
		return nil
	}
	return last
}

// Filter restricts the facts to frameworks and domains; an empty list doesn't restrict them.
// Unknown names are an error, because checking nothing would always pass.
func (f *Facts) Filter(frameworks, domains []string) error {
	known := map[string]bool{}
	for _, c := range f.Controls {
		known[c.Domain] = true
	}
	for i, code := range frameworks {
		at := slices.IndexFunc(f.Frameworks, func(k string) bool { return strings.EqualFold(k, code) })
		if at < 0 {
			return inputErrorf(
				"",
				0,
				"%s is not assessed against the framework %q%s",
				f.Subject.describe(),
				code,
				didYouMean(code, f.Frameworks),
			)
		}
		frameworks[i] = f.Frameworks[at]
	}
	for i, d := range domains {
		domains[i] = strings.ToUpper(d)
		if !known[domains[i]] {
			return inputErrorf("", 0, "no controls in the domain %q are assessed%s", d, didYouMean(strings.ToUpper(d), sortedKeys(known)))
		}
	}
	matches := func(domain string, of []string) bool {
		if len(domains) > 0 && !slices.Contains(domains, domain) {
			return false
		}
		// A gap that a user added under a custom code belongs to every framework.
		return len(frameworks) == 0 || len(of) == 0 ||
			slices.ContainsFunc(of, func(c string) bool { return slices.Contains(frameworks, c) })
	}
	f.excludedControls = map[string]bool{}
	f.Controls = slices.DeleteFunc(f.Controls, func(c Control) bool {
		f.excludedControls[strings.ToUpper(c.Code)] = !matches(c.Domain, c.Frameworks)
		return !matches(c.Domain, c.Frameworks)
	})
	f.Findings = slices.DeleteFunc(f.Findings, func(c Finding) bool { return !matches(c.Domain, c.Frameworks) })
	if len(frameworks) > 0 {
		f.Frameworks = slices.Compact(slices.Sorted(slices.Values(frameworks)))
	}
	f.Domains = slices.Compact(slices.Sorted(slices.Values(domains)))
	return nil
}

func (s Subject) describe() string {
	if s.Kind == Folder {
		return "the folder " + s.Name
	}
	return "the assessment “" + s.Name + "”"
}

// ReplaceFolderPath replaces from with to at the beginning of document paths, so that they show the
// folder's path instead of the name used for uploading.
func (f *Facts) ReplaceFolderPath(from, to string) {
	move := func(p *string) {
		if *p != "" {
			*p = replaceControlCharacters(path.Join(to, strings.TrimPrefix(*p, from+"/")))
		}
	}
	for i := range f.Documents {
		move(&f.Documents[i].Path)
	}
	for i := range f.Findings {
		move(&f.Findings[i].Place.Path)
	}
	f.Subject = Subject{Kind: Folder, Name: replaceControlCharacters(to)}
}

// AddUnreadFile records a file that was not imported, and the reason.
func (f *Facts) AddUnreadFile(name, reason string) {
	f.Documents = append(f.Documents, Document{Path: replaceControlCharacters(name), ReadError: sanitizeLine(reason)})
	slices.SortStableFunc(f.Documents, func(a, b Document) int { return cmp.Compare(a.Path, b.Path) })
}

// CountReadDocuments returns the number of documents that were read.
func (f *Facts) CountReadDocuments() (n int) {
	for _, d := range f.Documents {
		if d.ReadError == "" {
			n++
		}
	}
	return n
}

// Encode returns the facts in the form in which they are cached between runs.
func (f *Facts) Encode() ([]byte, error) { return json.Marshal(f) }

// DecodeFacts reads the output of Encode.
func DecodeFacts(data []byte) (*Facts, error) {
	f := &Facts{}
	err := decodeJSON(data, f)
	return f, err
}

// soaItems returns the controls as items of a Statement of Applicability, with the fields that the figures
// are computed from.
func (f *Facts) soaItems() []api.SoAItem {
	items := make([]api.SoAItem, len(f.Controls))
	for i, c := range f.Controls {
		items[i].Applicability, items[i].ImplementationStatus = c.Applicability, c.Status
		items[i].OnlyDocument, items[i].ChangedByDocument = c.OnlyDocument, c.ChangedByDocument
	}
	return items
}

// meanMaturity returns the average of the rated levels, or nil if there are none.
func (f *Facts) meanMaturity() *float64 {
	sum, n := 0, 0
	for _, c := range f.Controls {
		if c.Level != nil {
			sum, n = sum+*c.Level, n+1
		}
	}
	if n == 0 {
		return nil
	}
	mean := math.Round(float64(sum)/float64(n)*100) / 100
	return &mean
}

// fingerprint returns a hash that identifies an issue independently of its line number.
func fingerprint(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// isAtLeast reports whether a severity is at or above minimum.
func isAtLeast(s, minimum api.Severity) bool {
	return minimum != "" && s.Rank() <= minimum.Rank()
}
