package prose

import (
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/internal/lazyregexp"
)

// personColumns are the lowercase names of columns that contain people.
var personColumns = []string{
	"approver", "assigned to", "attendee", "attendees", "author", "candidate", "contact", "contact person", "deputy", "employee",
	"employee name", "first name", "full name", "holder", "last name", "manager", "member", "name of employee", "owner",
	"participant", "participants", "person", "requester", "responsible", "responsible person", "reviewer", "staff", "staff member",
	"surname", "tester", "trainee", "trainer", "user", "user name", "username", "account", "worker",
}

// personColumnEndings are the last words of names of columns that contain people, such as "contract owner".
var personColumnEndings = []string{"approver", "contact", "deputy", "manager", "owner", "reviewer"}

// personVerbs are the verbs before "by" in lowercase names of columns that contain people, such as "checked by".
var personVerbs = []string{
	"accepted", "approved", "authorized", "authorised", "checked", "closed", "completed", "confirmed", "created", "decided", "done",
	"executed", "granted", "handled", "held", "performed", "prepared", "raised", "recorded", "released", "reported", "requested",
	"reviewed", "signed", "tested", "updated", "verified", "witnessed",
}

// isPersonColumn reports whether a column contains people, by its name in lowercase.
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

// staffColumns are the lowercase names of columns which show that a register lists people, so that its column "name"
// contains people, too.
var staffColumns = []string{
	"course", "date of birth", "department", "email", "employee id", "job title", "manager", "staff id", "started on", "training",
	"personnel number",
}

// roleWords are lowercase words that occur in names of roles, teams and systems, but rarely in names of people.
var roleWords = []string{
	"admin", "administrator", "all", "analyst", "backup", "board", "committee", "company", "customer", "data", "department",
	"desk", "development", "director", "engineer", "engineering", "external", "finance", "forwarding", "group", "head", "human",
	"information", "inc", "it", "lead", "legal", "limited", "ltd", "manager", "management", "office", "officer", "operations",
	"operator", "people", "platform", "procurement", "protection", "resources", "sales", "security", "service", "services",
	"staff", "supervisor", "support", "system", "team", "technology", "vendor",
}

// InitialsInRecord returns a row of a table, written as "Column: value; Column: value", or an entry of a log, written as
// "Label: value Label: value", with people's names reduced to initials and without their addresses. If the text is not such
// a row, it is returned unchanged, as are values that don't look like a person's name.
func InitialsInRecord(row string) string {
	parts := strings.Split(row, "; ")
	if len(parts) < 2 {
		return initialsInLog(row)
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
	ofPeople := slices.ContainsFunc(names, func(n string) bool { return slices.Contains(staffColumns, n) })
	for i, p := range parts {
		name, value, _ := strings.Cut(p, ": ")
		switch {
		case slices.Contains(addressColumns, names[i]) || strings.Contains(value, "@") && isPersonColumn(names[i]):
			parts[i] = name + ": …"
		case isPersonColumn(names[i]) || ofPeople && names[i] == "name":
			parts[i] = name + ": " + initials(value)
		}
	}
	return strings.Join(parts, "; ")
}

// labelPattern matches a label in an entry of a log.
var labelPattern = lazyregexp.New(`(?:^|\s)(\p{Lu}\p{Ll}+(?: \p{Ll}+)?): `)

// initialsInLog returns an entry of a log, written as "Label: value Label: value", with the people in its values
// reduced to initials. A text with fewer than three labels is not such an entry.
func initialsInLog(entry string) string {
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
			people[k] = initials(people[k])
		}
		out.WriteString(entry[done:at[1]] + strings.Join(people, ", "))
		done = end
	}
	return out.String() + entry[done:]
}

// initials returns the initials of the person named at the start of a value. If the value doesn't look like a name,
// it is returned unchanged.
func initials(value string) string {
	name, rest := value, ""
	if at := strings.IndexAny(value, ",(."); at > 0 && value[at] != '.' {
		name, rest = value[:at], value[at:]
	}
	words := strings.Fields(name)
	if len(words) == 1 && strings.Count(name, ".") == 1 && strings.ToLower(name) == name { // an account name, such as a.byron
		words = strings.Split(name, ".")
	} else if len(words) < 2 || len(words) > 4 {
		return value
	}
	var out []string
	for i, w := range words {
		letters := []rune(strings.Trim(w, ".’'"))
		if len(letters) == 0 || slices.Contains(roleWords, strings.ToLower(string(letters))) {
			return value
		}
		particle := i > 0 && i < len(words)-1 && len(letters) <= 3
		if slices.ContainsFunc(letters, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '’' && r != '\'' }) ||
			!unicode.IsUpper(letters[0]) && !particle && strings.ToLower(name) != name {
			return value
		}
		if !particle {
			out = append(out, string(unicode.ToUpper(letters[0]))+".")
		}
	}
	if strings.ToLower(name) == name && !strings.Contains(name, ".") {
		return value // words without capitals are not a name
	}
	return strings.Join(out, " ") + rest
}
