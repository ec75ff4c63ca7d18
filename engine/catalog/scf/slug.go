package scf

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/scf-service/service/internal/lazyregexp"
)

// CollapseSpaces trims a string and replaces every run of whitespace in it, including no-break spaces, with
// one space.
func CollapseSpaces(s string) string { return strings.Join(strings.Fields(s), " ") }

// Annex A of ISO/IEC 27001:2022 consists of the 93 controls of ISO/IEC 27002:2022. The SCF lists the clauses of ISO
// 27001 in one column and these controls in another.
const (
	iso27001 = "iso-27001-2022"
	iso27002 = "iso-27002-2022"

	iso27001Edition2013 = "iso-27001-2013"
)

// annexFrameworks maps a standard to the framework that contains the controls of its Annex A.
var annexFrameworks = map[string]string{iso27001: iso27002, iso27001Edition2013: "iso-27002-2013"}

// FrameworkCode derives the code of a framework from its name or workbook header. Different spellings in
// different releases have the same code: "NIST 800-53 rev 5", "NIST⏎800-53⏎R5" and "NIST SP 800-53r5" are all
// nist-800-53-r5. A code is returned unchanged.
func FrameworkCode(header string) string { return resolveSlug(Slug(header)) }

// Slug normalizes the spelling of a header. It applies only general rules, which don't depend on any particular
// framework.
func Slug(header string) string {
	slug := normalizeSpelling(header)
	for {
		// One rewrite may make another rule apply: "0R0R0" becomes 0-r0r0, then 0-r0-r0.
		again := normalizeSpelling(slug)
		if again == slug {
			return slug
		}
		slug = again
	}
}

// normalizeSpelling applies the spelling rules to a header once.
func normalizeSpelling(header string) string {
	s := strings.ToLower(CollapseSpaces(apostropheRemover.Replace(header)))
	for _, rule := range spellingRules {
		s = rule.pattern.ReplaceAllString(s, rule.replacement)
	}
	var b strings.Builder
	var last rune // the last rune of s; '-' once a gap is due
	for i, r := range s {
		switch {
		case r == '.' && i+1 < len(s) && isDigit(s[i+1]) && unicode.IsDigit(last):
			b.WriteRune(r) // 4.0.1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if last == '-' && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
		default:
			r = '-'
		}
		last = r
	}
	slug := b.String()
	for _, region := range []string{"emea-", "apac-", "americas-"} {
		slug = strings.TrimPrefix(slug, region)
	}
	return slug
}

// apostropheRemover removes apostrophes before the spelling rules are applied.
var apostropheRemover = strings.NewReplacer("'", "", "’", "")

type rewriteRule struct {
	pattern     *lazyregexp.Regexp
	replacement string
}

var spellingRules = []rewriteRule{
	{lazyregexp.New(`\brev(?:ision)?\.?\s*(\d)`), "r$1"}, // rev 5, rev5
	{lazyregexp.New(`(\d)r(\d)\b`), "$1 r$2"},            // 800-53r5
	{lazyregexp.New(`\bv\.?\s?(\d)`), "$1"},              // v2022
	{lazyregexp.New(`\bnist sp\b`), "nist"},              // NIST SP 800-66
	{lazyregexp.New(`\biso\s*/\s*iec\b`), "iso"},         // ISO/IEC 27001
	{lazyregexp.New(`\bpcidss\b`), "pci dss"},            // as in 2022.3
	{lazyregexp.New(`\+`), " plus "},                     // "Low+" is not "Low"
	{lazyregexp.New(`\bsb (\d)`), "sb$1"},                // a senate bill
}

// resolveSlug returns the framework code for a slug. The same framework has the same code in every release.
func resolveSlug(slug string) string { return builtinAliasIndex().resolve(slug).code }

// resolve returns the framework that a slug stands for. If the slug isn't in the table, it applies a rename rule and
// tries again. If no rule applies, the slug itself is the code.
func (x *aliasIndex) resolve(slug string) aliasTarget {
	for {
		if k, ok := x.lookUp(slug); ok {
			return k
		}
		by := applyRenameRules(slug)
		if by == slug {
			return aliasTarget{slug, 0}
		}
		slug = by
	}
}

// renameRules handle framework names that vary between releases.
var renameRules = []rewriteRule{
	{lazyregexp.New(`^aicpa-(?:tsc|soc-2)-2016(?:-.*)?$`), "soc2-tsc-2016"},
	{lazyregexp.New(`^(?:aicpa-(?:tsc|soc-2)(?:-.*)?|soc-?2)$`), "soc2-tsc"},
	{lazyregexp.New(`^cis-(?:csc|controls)-`), "cis-"},
	{lazyregexp.New(`^us-(cmmc|fedramp)\b`), "$1"},
	{lazyregexp.New(`^(?:eu-)?(gdpr|dora|nis2)(?:-(?:eu-)?\d{4}.*)?$`), "$1"},
	{lazyregexp.New(`^(?:eu-)?ai-act(?:-\d{4}.*)?$`), "eu-ai-act"},
	{lazyregexp.New(`^(?:us-)?hipaa(?:-administrative-simplification)?(?:-\d{4})?$`), "hipaa"},
	{lazyregexp.New(`^(?:us-)?hipaa-security-rule(?:-.*)?$`), "hipaa-security-rule"},
	// The CPRA amended the CCPA; releases name the column after either.
	{lazyregexp.New(`^us-ca-(?:ccpa|cpra)(?:-.*)?$`), "ccpa"},
	{lazyregexp.New(`^brazil(?:-lgpd)?(?:-\d{4})?$`), "lgpd"},
	{lazyregexp.New(`^columbia$`), "colombia"}, // 2018.1
	{lazyregexp.New(`^niac-`), "naic-"},        // up to 2022.3
	{lazyregexp.New(`^mpaa-`), "mpa-"},         // renamed in 2019
	{lazyregexp.New(`^iso-42001(?:-2023)?$`), "iso-42001"},
	{lazyregexp.New(`^nist-(?:ai-100-1-)?ai-rmf(?:-1\.0)?$`), "nist-ai-rmf-1.0"},
	// The baselines of rev 5 are published as 800-53B.
	{lazyregexp.New(`^nist-800-53b-(r5-(?:privacy|low|moderate|high))$`), "nist-800-53-$1"},
}

// AssignFrameworkCodes assigns each framework its code, derived from its header or, if it has none, its name. A
// user's aliases take precedence over the built-in ones. If two headers stand for the same framework, the one listed
// first in the alias table gets the code. If the table doesn't decide, the one in the first column gets it. The code
// of the other one is its slug or, if the headers are equal, the same code with the suffix -2, -3 and so on. The
// function also links ISO 27001:2022 to its Annex A, which is ISO 27002:2022. If both have a column, an assessment
// of ISO 27001 includes ISO 27002. If only ISO 27002 has one, that framework gets both names.
func AssignFrameworkCodes(frameworks []Framework, userAliases *Aliases) {
	table := builtinAliasIndex()
	if userAliases != nil {
		table = BuiltinAliases().Merge(userAliases).newIndex()
	}
	plain, meant := make([]string, len(frameworks)), make([]aliasTarget, len(frameworks))
	best := map[string]int{}
	for i := range frameworks {
		header := frameworks[i].Column
		if header == "" {
			header = frameworks[i].Name
		}
		plain[i] = Slug(header)
		if plain[i] == "" {
			plain[i] = "framework"
		}
		meant[i] = table.resolve(plain[i])
		if first, duplicate := best[meant[i].code]; !duplicate || meant[i].rank < meant[first].rank {
			best[meant[i].code] = i
		}
	}
	taken := make(map[string]int, len(frameworks))
	for code, i := range best {
		taken[code] = i
		frameworks[i].Code = code
	}
	for i := range frameworks {
		if best[meant[i].code] == i {
			continue
		}
		code := meant[i].code
		if plain[i] != plain[best[code]] {
			code = plain[i]
		}
		free := code
		for n := 2; ; n++ {
			if _, duplicate := taken[free]; !duplicate {
				break
			}
			free = code + "-" + strconv.Itoa(n)
		}
		taken[free] = i
		frameworks[i].Code = free
	}
	controls, has := taken[iso27002]
	if !has {
		return
	}
	if clauses, both := taken[iso27001]; both {
		frameworks[clauses].Includes = append(frameworks[clauses].Includes, iso27002)
	} else {
		frameworks[controls].Aliases = append(frameworks[controls].Aliases, iso27001)
	}
}
