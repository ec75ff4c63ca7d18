package judge

import (
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

const maxStatements = 8

var (
	objectiveLabelPattern   = lazyregexp.NewPrefiltered(`(?i)^\W*(?:[a-z]+ )?(?:assessment )?objective ?\d*\s*(?:[:.)–-]\s*|$)`)
	statementOpeningPattern = lazyregexp.NewPrefiltered(
		`(?i)^(?:(?:[a-z]+[- ]){0,3}(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities) (?:exist|are (?:in place|employed|used)) (?:to|for|that)\s+|(?:determine|verify|examine|check) (?:if|whether|that)[: ]+|does the (?:organi[sz]ation|company|entity)\s+|(?:is|are) the (?:organi[sz]ation|company|entity) (?:able to\s+)?|the (?:organi[sz]ation|company|entity) (?:can|is able to|has the ability to)\s+|(?:the )?(?:organi[sz]ation|company|entity) (?:ensures? that )?)`,
	)
	frameworkStylePattern = lazyregexp.New(
		`(?i)^\s*$|\bmechanisms?\b|\b(?:mechanisms?|processes|controls?|procedures|safeguards|capabilities|measures) exist\b`,
	)
	enumerationPattern         = lazyregexp.New(`\s*\(?(?:\b\d{1,2}|[a-z]|[ivx]{1,4})\)\s+`)
	trailingConjunctionPattern = lazyregexp.New(`(?i)[;,.\s]*(?:\b(?:and|or|and ?/ ?or)\b)?[;,.\s]*$`)
)

// Statements returns the requirements of a control. Evidence is searched for each of them separately.
func Statements(c api.Control) []string { return newControlStatements(c).statements }

// controlStatements holds the statements of a control, that is, the requirements for which to find evidence.
type controlStatements struct {
	hasOwnCriteria bool   // whether our own criteria cover it
	topic          string // the topic, in words that documents use
	statements     []string
	source         api.StatementSource
}

// newControlStatements returns up to eight requirements of a control for which to find evidence. They come from the
// control's assessment objectives. If these only repeat the description, they come from our own criteria for the
// control's code or, if there are none, from its description, question or title, without the standard opening phrases
// of frameworks.
func newControlStatements(c api.Control) controlStatements {
	w := controlStatements{topic: c.Title}
	ours, known := matchingOwnCriteria(c)
	if known {
		w.topic, w.hasOwnCriteria = ours.Topic, true
	}
	for _, option := range []struct {
		from  api.StatementSource
		texts func() []string
	}{
		{api.FromObjectives, func() []string { return objectivesUnlessInDescription(c) }},
		{api.FromCriteria, func() []string { return ours.Sentences }},
		{api.FromDescription, func() []string { return splitDescription(c.Description) }},
		{api.FromQuestion, func() []string {
			if c.Question == nil {
				return nil
			}
			return splitDescription(*c.Question)
		}},
		{api.FromTitle, func() []string { return []string{c.Title} }},
	} {
		if w.statements = normalizeDistinctStatements(option.texts()); len(w.statements) > 0 {
			w.source = option.from
			break
		}
	}
	return w
}

// searchQueries returns the search query for each statement.
func (w controlStatements) searchQueries() []string {
	out := make([]string, len(w.statements))
	for i, s := range w.statements {
		out[i] = w.topic + ": " + s
	}
	return out
}

// normalizeDistinctStatements returns up to maxStatements distinct statements from texts, in normalized form.
func normalizeDistinctStatements(texts []string) (out []string) {
	seen := make(map[string]bool)
	for _, s := range texts {
		s = normalizeStatement(s)
		if key := strings.ToLower(s); len(s) > 2 && !seen[key] && len(out) < maxStatements {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// objectivesUnlessInDescription returns a control's assessment objectives, or nil if they only repeat the
// description or parts of it.
func objectivesUnlessInDescription(c api.Control) []string {
	whole := strings.ToLower(normalizeStatement(c.Description))
	out := make([]string, len(c.AssessmentObjectives))
	own := whole == ""
	for i, o := range c.AssessmentObjectives {
		out[i] = o.Text
		own = own || !strings.Contains(whole, strings.ToLower(strings.TrimRight(normalizeStatement(o.Text), ".")))
	}
	if !own {
		return nil
	}
	return out
}

// matchingOwnCriteria returns our own criteria for a control whose description is in the style of a framework. A
// matching code isn't enough, because catalog versions reassign codes. In addition, the control's texts or question
// must share a concept with the criteria's topic, or its title must share one concept with the criteria, or its
// description two. If a control is described in plain words, found is false and the control's own text is used.
func matchingOwnCriteria(c api.Control) (entry criteria.Entry, found bool) {
	e, ok := criteria.Lookup(c.Code)
	if !ok || !frameworkStylePattern.MatchString(c.Description) {
		return criteria.Entry{}, false
	}
	controlText := c.Title + ". " + c.Description
	if c.Question != nil {
		controlText += " " + *c.Question // complete even if a workbook truncates the description
	}
	if text.CountSharedConcepts(e.Topic, controlText) > 0 {
		return e, true
	}
	if ours := strings.Join(e.AllTexts(), ". "); text.CountSharedConcepts(c.Title, ours) > 0 || text.CountSharedConcepts(c.Description, ours) > 1 {
		return e, true
	}
	return criteria.Entry{}, false
}

// splitDescription splits a description into sentences. An enumeration such as "do X for: (1) a; (2) b" becomes
// one statement per item, each beginning with the lead-in.
func splitDescription(description string) []string {
	var out []string
	for _, s := range text.Sentences(description) {
		s = text.CollapseSpace(s)
		marks := enumerationPattern.FindAllStringIndex(s, -1)
		if len(marks) < 2 || marks[0][0] == 0 {
			out = append(out, s)
			continue
		}
		lead := strings.TrimRight(s[:marks[0][0]], " :,;")
		for i, m := range marks {
			end := len(s)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			out = append(out, lead+" "+trailingConjunctionPattern.ReplaceAllString(s[m[1]:end], ""))
		}
	}
	return out
}

func normalizeStatement(s string) string {
	s = text.CollapseSpace(s)
	s = objectiveLabelPattern.ReplaceAllString(s, "")
	for range 2 {
		s = statementOpeningPattern.ReplaceAllString(s, "")
	}
	s = strings.TrimRight(s, " ?;:,")
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// preparedStatement is a statement prepared for comparison with sentences.
type preparedStatement struct {
	text             string
	question         reading.Statement // what a reader is asked; empty for a control as a whole
	concepts         []text.Concept
	inTopic          []bool         // for each concept, whether it is part of the control's topic
	totalWeight      float64        // total weight of all concepts
	topic            []text.Concept // the control's title
	stance           text.Stance
	quantities       []text.Quantity
	heavyConcepts    int       // concepts of full weight
	specificConcepts int       // concepts that aren't general
	documentOnly     bool      // requires documentation only
	vector           []float32 // embedding; nil without an embedder
	titledVector     []float32 // embedding with the control's title
	controlConcepts  []uint64  // for a control as a whole: all concepts of its texts
	// asksExceptions is set if the statement requires that exceptions to a rule are handled.
	asksExceptions bool
	asksBefore     bool // requires something before something else
	aboutLimits    bool // the statement itself is about exceptions or limits
	// controlAnchors and statementAnchors are words that evidence must contain, for the control and
	// for the statement.
	controlAnchors, statementAnchors []anchorGroup
	wording                          text.Wording // empty for statements that aren't our own
}

// maxFullWeight is the statement weight above which a sentence need not contain all concepts,
// because long statements require several things at once.
const maxFullWeight = 7.0

// newPreparedStatement prepares a statement of a control with the given topic.
func newPreparedStatement(requirement string, topic []text.Concept) *preparedStatement {
	r := text.ReadRequirement(requirement)
	d := &preparedStatement{text: requirement, topic: topic, stance: r.Stance, concepts: r.Concepts, quantities: r.Quantities}
	d.documentOnly, d.inTopic = true, make([]bool, len(d.concepts))
	for _, t := range d.concepts {
		d.documentOnly = d.documentOnly && !t.IsAction
		d.totalWeight += t.Weight
		if t.Weight >= text.WeightFull {
			d.heavyConcepts++
		}
		if t.Weight > text.WeightGeneral {
			d.specificConcepts++
		}
	}
	for i, t := range d.concepts {
		d.inTopic[i] = !t.IsAction && slices.ContainsFunc(topic, func(a text.Concept) bool { return a.ID == t.ID })
	}
	d.asksBefore = beforePattern.MatchString(requirement) && !afterPattern.MatchString(requirement)
	for _, w := range r.Words {
		switch w {
		case "exception", "exceptions", "exemption", "exemptions", "waiver", "waivers", "deviation", "deviations":
			d.aboutLimits, d.asksExceptions = true, true
		case "only", "except", "unless", "exclusion", "exclusions", "exempt", "limited":
			d.aboutLimits = true
		}
	}
	return d
}
