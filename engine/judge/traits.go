package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// traitRule holds the search query for a trait and the pattern that detects it. A matching sentence supports the
// trait unless it is denied, conditional, prohibited, planned or a question. A sentence that denies that the
// organization has the trait counts against it.
type traitRule struct {
	query   string
	pattern *lazyregexp.Regexp
	// ofOthers is set if work that others do for the organization also affirms the trait.
	ofOthers bool
}

var traitRules = map[string]traitRule{
	"develops_software": {
		"we develop software, developers, source code, code review, releases",
		lazyregexp.New(
			`(?i)\b(?:(?:develop|build|writ|ship|creat|maintain|releas)\w*(?: and \w+)? (?:\w+ ){0,3}(?:software|applications?|code|products?|apps?)|(?:software|application|product) (?:development|engineering|engineers?|developers?)|source code|code reviews?|pull requests?|merge requests?|our developers|development team|secure development|sdlc|software (?:that )?(?:we|the company) (?:ships?|develops?))\b`,
		),
		false,
	},
	"uses_cloud": {
		"cloud services, hosted in AWS Azure Google Cloud, SaaS",
		lazyregexp.New(
			`(?i)\b(?:aws|amazon web services|azure|google cloud|gcp|cloud (?:services?|providers?|infrastructure|platforms?|hosting|environments?|accounts?|applications?|computing|storage)|cloud-(?:based|hosted)|saas|iaas|paas|microsoft 365|office 365|intune|entra id|exchange online|sharepoint online|onedrive|google workspace|third.party cloud)\b`,
		),
		true,
	},
	"processes_personal_data": {
		"personal data, personal information, data subjects, privacy, GDPR",
		lazyregexp.New(
			`(?i)\b(?:personal (?:data|information)|personally identifiable|pii|data subjects?|gdpr|privacy notice|data protection (?:officer|impact)|records? of processing|phi|protected health information|special categor(?:y|ies) of data|customer data|user data)\b`,
		),
		false,
	},
	"handles_cards": {
		"payment card data, cardholder data, PCI DSS",
		lazyregexp.New(
			`(?i)\b(?:cardholder|payment cards?|credit cards?|debit cards?|card (?:data|numbers?|payments?)|pci[ -]?dss|primary account numbers?)\b`,
		),
		false,
	},
	"has_ot": {
		"operational technology, industrial control systems, SCADA, PLC, production line",
		lazyregexp.New(
			`(?i)\b(?:operational technology|industrial control|scada|plcs?|programmable logic|ot (?:network|systems?|environment|devices?|assets?|security)|manufacturing (?:line|plant|execution|equipment)|production lines?|ics (?:network|systems?|environment))\b`,
		),
		false,
	},
	"has_facilities": {
		"office building, data center, physical access, visitors, badges",
		lazyregexp.New(
			`(?i)\b(?:(?:our|the|company|all|main) (?:\w+ )?(?:offices?|buildings?|premises|facilit(?:y|ies)|data ?cent(?:er|re)s?|server rooms?|warehouses?|plants?|sites?)|visitors?|badge(?:s| readers?)?|server rooms?|secure areas?|physical access|reception)\b`,
		),
		false,
	},
	"uses_ai": {
		"artificial intelligence, machine learning models, generative AI, chatbots",
		lazyregexp.New(
			`(?i)\b(?:artificial intelligence|machine learning|generative ai|ai (?:systems?|tools?|models?|services?|assistants?|applications?|features?|policy)|large language models?|llms?|chatgpt|copilot|neural networks?)\b`,
		),
		false,
	},
	"outsources_it": {
		"outsourced IT, managed service provider, hosting by third party",
		lazyregexp.New(
			`(?i)\b(?:outsourc\w+|managed (?:security )?service providers?|msps?|mssps?|(?:external|third.party|managed) (?:it )?(?:providers?|hosting|hosters?|data cent(?:er|re)s?|support|operations?|cloud providers?|service providers?)|it (?:services? )?(?:is|are) (?:run|operated|provided|managed) by)\b`,
		),
		true,
	},
	"has_mobile_devices": {
		"mobile devices, smartphones, laptops, BYOD, mobile device management",
		lazyregexp.New(
			`(?i)\b(?:mobile (?:devices?|phones?|computing|endpoints?)|smart ?phones?|tablets?|laptops?|notebooks?|byod|ios|android|mdm)\b`,
		),
		false,
	},
	"has_remote_workers": {
		"remote work, work from home, telework, VPN",
		lazyregexp.New(
			`(?i)\b(?:remote (?:work(?:ers?|ing|force)?|employees|staff|access|teams?)|work(?:s|ing)? (?:from home|remotely)|telework\w*|home offices?|fully remote|distributed (?:team|company|workforce)|vpn)\b`,
		),
		false,
	},
}

// organizationDenialPattern matches words with which a sentence can deny something about the organization, as in
// "we do not process card data".
var organizationDenialPattern = lazyregexp.New(`(?i)\b(?:we|company|organi[sz]ation|no|none|not|never|does not|do not|neither)\b`)

// examplePattern matches the beginning of a sentence up to a position inside a list of examples.
var examplePattern = lazyregexp.New(`(?i)(?:\be\.g\.|\bfor example\b|\bsuch as\b)[^.;)]{0,80}$`)

const (
	traitTopK   = 20 // passages examined per trait
	traitQuotes = 3  // quotes kept for and against a trait
)

// newTraitSession returns a Session that finds the passages to read for traits.
func newTraitSession(f Finder, reader reading.Reader) *Session {
	return NewSession(f, Options{TopK: traitTopK, MinScore: 0.05, Reader: reader})
}

// TraitCandidates returns a statement for each trait, with the passages that a reader would read for it.
func TraitCandidates(ctx context.Context, f Finder) ([]Candidates, error) {
	s := newTraitSession(f, nil)
	var out []Candidates
	for _, name := range api.TraitNames {
		rule, ok := traitRules[name]
		if !ok {
			continue
		}
		found, err := s.findPassages(ctx, rule.query)
		if err != nil {
			return nil, err
		}
		c := Candidates{Statement: traitStatement(name)}
		for _, h := range found {
			c.Passages = append(c.Passages, h.Passage)
		}
		c.AddressesReader = func(passage int) bool { return AddressesReader(c.Passages[passage]) }
		out = append(out, c)
	}
	return out, nil
}

// DetectTraits determines the value of each trait in api.TraitNames: "true" or "false", with quotes, or "unknown" if
// passages disagree or none is about the trait. Traits for which the reader has not read any passages are determined by
// the built-in rules. If reader is nil, all traits are.
func DetectTraits(ctx context.Context, f Finder, reader reading.Reader) (map[string]api.Trait, error) {
	s := newTraitSession(f, reader)
	out := make(map[string]api.Trait, len(api.TraitNames))
	for _, name := range api.TraitNames {
		t, err := s.detectTrait(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("checking whether the organization %s: %w", traitPhrase(name), err)
		}
		out[name] = t
	}
	return out, nil
}

// traitStatement returns the statement with which passages are compared to detect the trait.
func traitStatement(name string) reading.Statement {
	return reading.Statement{Topic: "The organization", Text: "The organization " + traitPhrase(name) + "."}
}

func (s *Session) detectTrait(ctx context.Context, name string) (api.Trait, error) {
	rule, ok := traitRules[name]
	if !ok {
		return api.Trait{
			Value:    "unknown",
			Source:   "default",
			Reason:   "No rule detects this trait; set it manually.",
			Evidence: []api.Evidence{},
		}, nil
	}
	candidates, err := s.findPassages(ctx, rule.query)
	if err != nil {
		return api.Trait{}, err
	}
	readings := make([][]reading.Reading, len(candidates))
	read := false
	if s.options.Reader != nil {
		all, _, err := s.readPassages(ctx, &preparedStatement{question: traitStatement(name)}, candidates)
		if err != nil {
			return api.Trait{}, err
		}
		for i := range all {
			readings[i], read = all[i:i+1], read || all[i].IsRead()
		}
	}
	if !read {
		for i := range candidates {
			readings[i] = rule.read(s.analyzed(candidates[i].foundPassage).passageAnalysis, candidates[i].HeadingPath)
		}
	}
	return concludeTrait(name, candidates, readings), nil
}

// read returns a reading for each sentence of a passage that affirms or denies the trait.
func (rule traitRule) read(c *passageAnalysis, headings []string) (out []reading.Reading) {
	if slices.ContainsFunc(headings, outOfScopePattern.MatchString) {
		return nil
	}
	for k := range c.Sentences {
		cur := &c.Sentences[k]
		m := rule.pattern.FindStringIndex(cur.Text)
		if m == nil || cur.Instruction || cur.Question || cur.Definition || cur.Placeholder != "" || cur.PlanWords != "" {
			continue
		}
		before, clause := cur.Text[:m[0]], text.ClauseMaskAt(cur.Text, m[0])
		if examplePattern.MatchString(before) {
			continue // "laws and standards (e.g. PCI DSS)" says nothing about the organization
		}
		switch {
		case cur.Denied&clause != 0:
			if organizationDenialPattern.MatchString(cur.Text) && deniesTrait(cur.Text, m) {
				out = append(out, reading.Reading{Label: reading.Contradicts, Words: c.Quote(k, k)})
			}
		case cur.Conditional&clause != 0 || cur.Prohibited&clause != 0:
		case unrealPattern.MatchString(cur.Text) || outOfScopePattern.MatchString(c.Heading(cur)):
		case !rule.ofOthers && othersPattern.MatchString(cur.Text[:m[1]]):
		default:
			out = append(out, reading.Reading{Label: reading.States, Words: c.Quote(k, k)})
		}
	}
	return out
}

// concludeTrait determines the value of a trait from readings of passages, whether by the rules or another reader.
func concludeTrait(name string, passages []retrievedPassage, readings [][]reading.Reading) api.Trait {
	var yes, no []api.Evidence
	documents := make(map[string]bool)
	for i, h := range passages {
		for _, r := range readings[i] {
			v := passageVerdict{verdict: VerdictCovered, coverage: h.score, passage: h.foundPassage, quote: r.Words}
			ev := v.toEvidence(traitPhrase(name))
			switch r.Label {
			case reading.Contradicts:
				ev.Stance = "denies"
				no = append(no, ev)
			case reading.States, reading.Part: // a trait of one part of the organization counts for all of it
				yes = append(yes, ev)
				documents[h.DocumentID] = true
			}
		}
	}
	t := api.Trait{Value: "unknown", Source: "evidence", Evidence: []api.Evidence{}}
	result := func(value, reason string, ev []api.Evidence) api.Trait {
		t.Value, t.Reason = value, reason
		t.Evidence = append(t.Evidence, ev...)
		return t
	}
	first := func(ev []api.Evidence) []api.Evidence { return ev[:min(len(ev), traitQuotes)] }
	switch {
	case len(yes) > 0 && len(no) > 0:
		return result("unknown", "Passages disagree; decide manually.", slices.Concat(first(no), first(yes)))
	case len(no) > 0:
		return result(
			"false",
			fmt.Sprintf(
				"According to %s, the organization doesn't match “%s”.",
				prose.Count(len(no), "passage", "passages"),
				traitPhrase(name),
			),
			first(no),
		)
	case len(yes) > 0:
		return result(
			"true",
			fmt.Sprintf(
				"According to %s in %s, the organization %s.",
				prose.Count(len(yes), "passage", "passages"),
				prose.Count(len(documents), "document", "documents"),
				traitPhrase(name),
			),
			first(yes),
		)
	}
	t.Source = "default"
	return result("unknown", "No passage covers this trait; set it manually.", nil)
}

// unrealPattern matches sentences about hypothetical situations.
var unrealPattern = lazyregexp.New(
	`(?i)^\W*(?:if|should|were|unless|in case|suppose|assuming|had)\b|\bwould (?:have to|need|apply|be|become|only|then|also)\b|\b(?:if|unless) (?:we|it|the (?:company|organi[sz]ation)) (?:ever |were |had |should )`,
)

// outOfScopePattern matches headings of sections about what the organization doesn't have or doesn't assess.
var outOfScopePattern = lazyregexp.New(
	`(?i)\b(?:out of scope|outside (?:the |of )*scope|not in scope|out-of-scope|not applicable|not covered|excluded|exclusions?|what we do(?: not|n.t)|non-goals)\b`,
)

// othersPattern matches the beginning of a sentence after which another organization is the
// subject, such as "our customers store".
var othersPattern = lazyregexp.New(
	`(?i)(?:^|[,;:(] ?|\b(?:and|but|because|since|while|where) )(?:(?:our|the|a|an|its|their|some|many|most|all|each|every|other) )?(?:[\w-]+ ){0,2}(?:customers?|clients?|suppliers?|vendors?|merchants?|competitors?|partners?|tenants|providers?|processors?|acquirers?|subcontractors?|third part(?:y|ies)|banks?|regulators?|standard|law|act)(?: [\w-]+){0,2}? (?:stores?|handles?|process(?:es)?|keeps?|collects?|holds?|uses?|develops?|builds?|operates?|runs?|has|have|accepts?|takes?|transmits?|requires?|covers?|defines?|applies to)\b(?: [\w-]+,?){0,6} ?$`,
)

// traitDenialPattern matches the words before the name of a trait if they deny the trait ("we do not develop", "there
// is no").
var traitDenialPattern = lazyregexp.New(
	`(?i)(?:\b(?:we|company|organi[sz]ation|it|[A-Z]\w+) (?:\w+ ){0,2}(?:does not|do not|doesn't|don't|has no|have no|is not|are not|never|neither)(?: \w+){0,4} ?$|\bthere (?:is|are) no(?: \w+){0,3} ?$|^no(?: \w+){0,3} ?$)`,
)

// followingWordsPattern matches up to two words that may continue the name of a thing, as in "personal data | inventory".
var followingWordsPattern = lazyregexp.New(`^(?: [\w-]+){1,2}`)

// negatedVerbPattern captures the negated verb, such as "delete" in "we do not delete any".
var negatedVerbPattern = lazyregexp.New(`(?i)\b(?:does not|do not|doesn.t|don.t|never) (?:currently |yet |ourselves )?(\w+)(?: \w+){0,3}$`)

var trailingNegationPattern = lazyregexp.New(`(?i)(?:\bnot|n.t|\bnever)$`)

// deniesTrait reports whether a sentence denies the trait whose name begins at traitMatch[0]. It does in "we do
// not develop software", but not in "customer data is not stored on laptops".
func deniesTrait(sentence string, traitMatch []int) bool {
	before := strings.TrimRight(sentence[:traitMatch[0]], " ")
	if text.NamesSafeguard(sentence[traitMatch[0]:traitMatch[1]] + followingWordsPattern.FindString(sentence[traitMatch[1]:])) {
		return false // "we do not keep a record of processing" says nothing about whether there is any processing
	}
	if traitDenialPattern.MatchString(before) {
		verb := negatedVerbPattern.FindStringSubmatch(before)
		return verb == nil || text.IsPossessionVerb(strings.ToLower(verb[1])) // "we don't delete personal data" implies having it
	}
	// The match may begin with the verb itself: "does not | develop software".
	return trailingNegationPattern.MatchString(before)
}
