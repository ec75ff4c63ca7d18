package prose

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/internal/lazyregexp"
)

// personColumns are the lowercase names of columns that contain people.
var personColumns = []string{
	"approver", "assigned to", "attendee", "attendees", "author", "candidate", "chair", "contact", "contact person", "deputy",
	"display name", "employee", "employee name", "first name", "full name", "holder", "last name", "manager", "member",
	"name of employee", "owner", "participant", "participants", "person", "requester", "responsible", "responsible person",
	"reviewer", "staff", "staff member",
	"surname", "tester", "trainee", "trainer", "user", "user name", "username", "account", "worker",
}

// personColumnEndings are the last words of names of columns that contain people, such as "contract owner".
var personColumnEndings = []string{"approver", "contact", "deputy", "manager", "owner", "reviewer"}

// personVerbs are the verbs that precede "by" in the lowercase names of columns that contain people, such as "checked
// by".
var personVerbs = []string{
	"accepted", "approved", "authorized", "authorised", "chaired", "checked", "closed", "completed", "confirmed", "created", "decided", "done",
	"executed", "granted", "handled", "held", "performed", "prepared", "raised", "recorded", "released", "reported", "requested",
	"reviewed", "signed", "tested", "updated", "verified", "witnessed",
}

// isPersonColumn reports whether a column contains people, judging by its lowercase name.
func isPersonColumn(name string) bool {
	if name == "by" || slices.Contains(personColumns, name) {
		return true
	}
	first, last, _ := strings.Cut(name, " ")
	if last == "by" {
		return slices.Contains(personVerbs, first)
	}
	return slices.Contains(personColumnEndings, name[strings.LastIndexByte(name, ' ')+1:])
}

// addressColumns are the lowercase names of columns that contain a person's addresses.
var addressColumns = []string{
	"address", "e-mail", "e-mail address", "email", "email address", "home address", "mail", "mobile", "phone", "phone number",
	"private address", "telephone",
}

// staffColumns are the lowercase names of columns that only a list of people has. The column "name" of such a list
// contains people, too.
var staffColumns = []string{
	"course", "date of birth", "date of joining", "date of leaving", "department", "email", "employee id", "first working day", "hire date",
	"job title", "joined on", "last working day", "leaving date", "left on", "line manager", "manager", "personnel number", "position",
	"staff id", "started on", "trained on", "training", "training date",
}

// staffColumnPattern matches further names of such columns, which say what happens to a person's account and equipment.
var staffColumnPattern = lazyregexp.New(
	`^(?:accounts?|access) (?:disabled|removed|revoked|closed)\b|^(?:laptop|phone|badge|keys?|devices?|equipment)s? returned\b`)

// roleWords are lowercase words that occur in names of roles, teams and systems, but rarely in names of people.
var roleWords = []string{
	"admin", "administrator", "all", "analyst", "audit", "auditor", "backup", "board", "chief", "cloud", "committee", "company",
	"compliance", "council", "customer", "data", "department", "desk", "development", "director", "engineer", "engineering",
	"executive", "external", "finance", "forwarding", "group", "head", "human", "information", "inc", "internal", "it", "lead",
	"legal", "limited", "ltd", "manager", "management", "office", "officer", "operations", "operator", "people", "platform",
	"president", "procurement", "protection", "resources", "risk", "sales", "secretary", "security", "service", "services",
	"software", "staff", "steering", "supervisor", "support", "system", "team", "technology", "vendor",
}

// InitialsInRecord replaces people's names with their initials and removes their addresses. It does so in a table row,
// written as "Column: value; Column: value", and in a log entry, written as "Label: value Label: value". Any other text
// is returned unchanged, and so are values that don't look like a person's name.
func InitialsInRecord(row string) string { return replacePeople(row, initials) }

// InitialsFor returns a replacer that replaces people's names with their initials. It learns the names from texts that
// identify people as such: in columns of tables and logs, or after "owner" or "chaired by". It finds them in any text,
// such as a sentence.
func InitialsFor(texts []string) *strings.Replacer {
	names := map[string]bool{}
	add := func(value string) string {
		if name := personName(value); strings.Contains(name, " ") && strings.ToLower(name) != name {
			names[name] = true
		}
		return value
	}
	for _, t := range texts {
		replacePeople(t, add)
		for _, m := range namedPersonPattern.FindAllStringSubmatch(t, -1) {
			add(m[1])
		}
	}
	var pairs []string
	for _, n := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		pairs = append(pairs, n, initials(n))
	}
	return strings.NewReplacer(pairs...)
}

// namedPersonPattern matches a name in a sentence after words that say what the person did.
var namedPersonPattern = lazyregexp.New(`\b(?:[Oo]wner|(?:chaired|facilitated|signed) by):? (\p{Lu}[\p{Ll}’']+(?: \p{Lu}[\p{L}’'-]+){1,2})`)

// replacePeople replaces the people in a table row or a log entry. In a table row, it also removes people's addresses.
// Any other text is returned unchanged.
func replacePeople(row string, replace func(value string) string) string {
	parts := strings.Split(row, "; ")
	if len(parts) < 2 {
		return replacePeopleInLog(row, replace)
	}
	names := make([]string, len(parts))
	columns := 0
	for i, p := range parts {
		if name, _, ok := strings.Cut(p, ": "); ok && len(name) <= 40 {
			names[i] = strings.ToLower(strings.TrimSpace(strings.ReplaceAll(name, "_", " ")))
			columns++
		}
	}
	if columns < 2 {
		return row
	}
	ofPeople := slices.ContainsFunc(names, func(n string) bool {
		return slices.Contains(staffColumns, n) || staffColumnPattern.MatchString(n)
	})
	for i, p := range parts {
		name, value, _ := strings.Cut(p, ": ")
		switch {
		case slices.Contains(addressColumns, names[i]) || strings.Contains(value, "@") && isPersonColumn(names[i]):
			parts[i] = name + ": …"
		case isPersonColumn(names[i]) || ofPeople && names[i] == "name":
			parts[i] = name + ": " + replace(value)
		}
	}
	return strings.Join(parts, "; ")
}

// labelPattern matches a label in a log entry.
var labelPattern = lazyregexp.New(`(?:^|\s)(\p{Lu}\p{Ll}+(?: \p{Ll}+)?): `)

// replacePeopleInLog replaces the people in the values of a log entry, written as "Label: value Label: value". A text
// with fewer than three labels is not such an entry, and is returned unchanged.
func replacePeopleInLog(entry string, replace func(value string) string) string {
	labels := labelPattern.FindAllStringSubmatchIndex(entry, -1)
	if len(labels) < 3 {
		return entry
	}
	var out strings.Builder
	done := 0
	for i, at := range labels {
		if !isPersonColumn(strings.ToLower(entry[at[2]:at[3]])) {
			continue
		}
		end := len(entry)
		if i+1 < len(labels) {
			end = labels[i+1][0]
		}
		people := strings.Split(entry[at[1]:end], ", ")
		for k := range people {
			people[k] = replace(people[k])
		}
		out.WriteString(entry[done:at[1]] + strings.Join(people, ", "))
		done = end
	}
	return out.String() + entry[done:]
}

// initials returns the initials of the person named at the start of a value. If the value doesn't look like a name,
// it is returned unchanged.
func initials(value string) string {
	name := personName(value)
	if name == "" {
		return value
	}
	words := strings.Fields(name)
	if len(words) == 1 { // an account name, such as a.byron
		words = strings.Split(name, ".")
	}
	var out []string
	for i, w := range words {
		if letters := []rune(strings.Trim(w, ".’'")); !isNameParticle(words, i) {
			out = append(out, string(unicode.ToUpper(letters[0]))+".")
		}
	}
	return strings.Join(out, " ") + value[len(name):]
}

// isNameParticle reports whether a word of a name is a short word between other words, such as "de".
func isNameParticle(words []string, i int) bool {
	return i > 0 && i < len(words)-1 && utf8.RuneCountInString(strings.Trim(words[i], ".’'")) <= 3
}

// personName returns the name or account name of a person at the start of a value, or "" if the value doesn't look like
// a name.
func personName(value string) string {
	name := value
	if at := strings.IndexAny(value, ",(."); at > 0 && value[at] != '.' {
		name = value[:at]
	}
	words := strings.Fields(name)
	lowercase := strings.ToLower(name) == name
	account := len(words) == 1 && strings.Count(name, ".") == 1 && lowercase
	switch {
	case account:
		words = strings.Split(name, ".")
	case len(words) < 2 || len(words) > 4 || lowercase && !strings.Contains(name, "."): // words without capitals are not a name
		return ""
	}
	for i, w := range words {
		letters := []rune(strings.Trim(w, ".’'"))
		if len(letters) == 0 || slices.Contains(roleWords, strings.ToLower(string(letters))) ||
			slices.ContainsFunc(letters, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '’' && r != '\'' }) ||
			!unicode.IsUpper(letters[0]) && !isNameParticle(words, i) && !lowercase {
			return ""
		}
	}
	return name
}
