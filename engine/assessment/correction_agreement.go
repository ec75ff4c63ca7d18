package assessment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/sampling"
	"github.com/scf-service/service/store"
)

// agreementNotes explain the figures of GetCorrectionAgreement.
var agreementNotes = []string{
	"A reader agrees if it reaches the same conclusion about a passage as the person did: the passage shows that " +
		"the requirement is met (in full or in part), plans it, contradicts it, or doesn't mention it.",
	"Most decisions are about passages that a draft quoted. Passages that every reader overlooked are therefore " +
		"underrepresented, and the draft may have influenced people's decisions.",
	"The confidence interval is based on items rather than passages, because the passages of an item are decided " +
		"together. It is exact (Clopper-Pearson) and applies to items similar to those decided on.",
}

// maxAssessmentsCompared is the maximum number of assessments whose corrections are compared, because the evidence of each is
// searched again.
const maxAssessmentsCompared = 10

// GetCorrectionAgreement compares people's decisions about passages with the readings of the rules
// and of other readers. It compares the decisions in the assessments that were corrected last.
func (s *Service) GetCorrectionAgreement(ctx context.Context, by api.Caller, _ *api.None) (*api.CorrectionAgreement, error) {
	byAssessment := map[string][]api.Correction{}
	var assessments []string // in the order of their last corrections
	out := &api.CorrectionAgreement{Confidence: sampling.Confidence, Readers: []api.ReaderAgreement{}, Notes: agreementNotes}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		for c, err := range store.Corrections.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			byAssessment[c.AssessmentID] = append(byAssessment[c.AssessmentID], c)
			assessments = append(slices.DeleteFunc(assessments, func(id string) bool { return id == c.AssessmentID }), c.AssessmentID)
			if out.Corrections++; c.Decision == api.CorrectionAccepted {
				out.Accepted++
			} else {
				out.Refused++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if older := len(assessments) - maxAssessmentsCompared; older > 0 {
		for _, id := range assessments[:older] {
			out.NotCompared += len(byAssessment[id])
		}
		assessments = assessments[older:]
	}
	tallies := map[string]*agreementTally{judge.RulesVersion: {}}
	for _, id := range assessments {
		if err := s.compareReaders(ctx, by, id, byAssessment[id], tallies); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		out.Readers = append(out.Readers, tallies[name].report(name, out.Corrections-out.NotCompared))
	}
	return out, nil
}

// compareReaders compares the readings of the rules and of an assessment's readers with the
// corrections made in it, and adds the results to the tallies.
func (s *Service) compareReaders(
	ctx context.Context, by api.Caller, assessment string, corrections []api.Correction, tallies map[string]*agreementTally,
) error {
	scores := map[[2]string]float64{} // search scores of passages, by statement and text
	var readers []reading.Reader
	err := s.evaluateByRules(ctx, by, assessment, func(a *api.Assessment, j *Evaluation, _ []api.Control) error {
		readers = append(readers, j.prepared.RulesReader(s.today()))
		codes := map[string]bool{}
		for _, c := range corrections {
			codes[c.ControlCode] = true
		}
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			for _, st := range j.Candidates(code) {
				for _, p := range st.Passages {
					scores[[2]string{st.Statement.ID(), p.ForReader().Bounded().Text}] = p.Score
				}
			}
		}
		return s.db.View(ctx, func(tx *store.Tx) error {
			for r, err := range store.Readers.Scan(tx, a.OrganizationID, store.Prefix(a.ID)) {
				if err != nil {
					return err
				}
				readers = append(readers, &storedReader{db: s.db, Reader: r})
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, reader := range readers {
		tally := tallies[reader.Name()]
		if tally == nil {
			tally = &agreementTally{}
			tallies[reader.Name()] = tally
		}
		for _, c := range corrections {
			p := correctedPassage(&c)
			p.Score = scores[[2]string{c.StatementID, c.Passage.Text}]
			st := reading.Statement{ControlCode: c.ControlCode, Topic: c.Topic, Text: c.Statement}
			read, _, err := reading.ReadAll(ctx, reader, st, []reading.Passage{p})
			if err != nil {
				return fmt.Errorf("reading the passages of corrections: %w", err)
			}
			if read[0].IsRead() {
				tally.add(&c, meaningOf[read[0].Label] == meaningOf[reading.Label(c.Label)])
			}
		}
	}
	return nil
}

// meaningOf maps labels that have the same meaning for a requirement to a common value.
var meaningOf = map[reading.Label]string{
	reading.States: "shows", reading.Part: "shows", reading.Plans: "plans", reading.Contradicts: "contradicts", reading.Silent: "silent",
}

// agreementTally counts the corrections with which a reader agrees.
type agreementTally struct {
	all     agreementCounter
	domains map[string]*agreementCounter
}

// agreementCounter counts corrected passages, those on which a reader agrees, and the lines that they belong to.
type agreementCounter struct {
	passages, agreed int
	lines            map[string]bool
}

func (t *agreementTally) add(c *api.Correction, agrees bool) {
	if t.domains == nil {
		t.domains = map[string]*agreementCounter{}
	}
	if t.domains[c.DomainCode] == nil {
		t.domains[c.DomainCode] = &agreementCounter{}
	}
	for _, n := range []*agreementCounter{&t.all, t.domains[c.DomainCode]} {
		if n.lines == nil {
			n.lines = map[string]bool{}
		}
		n.lines[c.AssessmentID+c.ControlCode] = true
		if n.passages++; agrees {
			n.agreed++
		}
	}
}

func (t *agreementTally) report(name string, corrections int) api.ReaderAgreement {
	out := api.ReaderAgreement{Reader: name, All: t.all.report(""), Domains: []api.AgreementCount{}}
	out.All.NotRead = corrections - t.all.passages
	for _, d := range slices.Sorted(maps.Keys(t.domains)) {
		out.Domains = append(out.Domains, t.domains[d].report(d))
	}
	return out
}

func (n *agreementCounter) report(domain string) api.AgreementCount {
	out := api.AgreementCount{DomainCode: domain, Passages: n.passages, Lines: len(n.lines), Agreed: n.agreed}
	if n.passages > 0 {
		share := judge.RoundToThousandths(float64(n.agreed) / float64(n.passages))
		low, high := sampling.Interval(float64(n.agreed)/float64(n.passages), len(n.lines))
		out.Share, out.Low, out.High = &share, new(judge.RoundToThousandths(low)), new(judge.RoundToThousandths(high))
	}
	return out
}
