package itemfilter_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/itemfilter"
)

// TestSoAFilters checks what filters select, and the errors for invalid ones.
func TestSoAFilters(t *testing.T) {
	owner, by := "Head of IT", "Ada"
	item := api.SoAItem{
		Item: api.Item{
			ControlCode: "IAC-06", ControlTitle: "Multi-factor authentication", DomainCode: "IAC", EditedBy: &by,
			RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.8.5"}},
		},
		Owner: &owner, ImplementationStatus: api.NotEvidenced, Applicability: api.Applicable, Confidence: 0.4, NeedsReview: true,
	}
	for filter, want := range map[string]bool{
		"": true,
		`domain == "IAC" && status == "not_evidenced"`:                    true,
		`domain_code == "IAC" and implementation_status != "implemented"`: true,
		`status in ["implemented", "planned"]`:                            false,
		`not needs_review or confidence > 0.5`:                            false,
		`confidence < 1 && len(requirements) == 1`:                        true,
		`"A.8.5" in requirements && "soc2" not in frameworks`:             true,
		`lower(owner) contains "head of" && note == ""`:                   true,
		`control matches "^IAC-0[1-6]$" && edited && edited_by == "Ada"`:  true,
		`control startsWith "BCD" || carried`:                             false,
		`quotes == 0 && !disagreement`:                                    true,
		`control == "iac-06" && "Iac" == domain`:                          true,
		`control in ["iac-06", "bcd-11"] && control startsWith "iac"`:     true,
		`domain not in ["iac"]`:                                           false,
		`edited_by == "ADA"`:                                              false,
	} {
		f, err := itemfilter.Compile[api.SoAItem](filter)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		if got := f.Selects(&item); got != want {
			t.Errorf("%s: %t", filter, got)
		}
	}
	deep := strings.Repeat("(", 900) + "edited" + strings.Repeat(")", 900)
	for filter, want := range map[string]string{
		`statuss == "planned"`:                          `there is no field "statuss"; did you mean "status"?`,
		`status == "not_evidence"`:                      `status can't be "not_evidence"; valid values are implemented, `,
		`status in ["planned", "done"]`:                 `status can't be "done"`,
		`confidence == "high"`:                          "between confidence (a number) and a text; use a condition such as confidence < 0.5 (column 12)",
		`carried != ""`:                                 "carried (true or false) and a text; use a condition such as carried, or not carried",
		`owner && edited`:                               `owner is a text, not a condition; use a condition such as owner contains "it"`,
		`frameworks == "soc2"`:                          `use a condition such as "soc2-tsc" in frameworks`,
		`status in ["planned", 5]`:                      "in can't be used between status (a text) and a list",
		`lower(note) == 5`:                              "between a text and a number",
		`status == implemented`:                         `put text in quotes: status == "implemented" (column 11)`,
		`owner == nil`:                                  `write owner == ""`,
		`color == "red"`:                                "disagreement (true or false); frameworks, requirements, edited_fields (list), for example domain",
		`domain == "IAC" &&`:                            "column",
		`domain`:                                        "domain is a text, not a condition",
		`domain = "IAC"`:                                "compare with ==, in column 8",
		`len(1..100000000) > 1`:                         "filters don't support the operator ..",
		`let a = note; a == ""`:                         `there is no field "a"`,
		`any(requirements, # == "A.8.5")`:               "filters consist of",
		`owner + owner == "x"`:                          "filters don't support the operator +",
		`note matches owner`:                            `the pattern after "matches" must be a quoted string`,
		`note matches "("`:                              "missing closing",
		`$env.domain == "IAC"`:                          `there is no field "$env"`,
		`owner.name == "x"`:                             "filters consist of",
		strings.Repeat("edited && ", 160) + "edited":    "too long",
		strings.Repeat("edited && ", 1000) + "edited":   "bytes",
		strings.Repeat(`"x" in requirements ||`, 90):    "column",
		"domain == \"I\x00AC\" && status == 5":          "column",
		strings.Repeat("not ", 290) + deep + ` == true`: "",
	} {
		_, err := itemfilter.Compile[api.SoAItem](filter)
		if err == nil && want != "" || err != nil && (!api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v", filter, err)
		}
	}
}

// TestFieldsOfAllItems checks that every field of each deliverable can be compared on an empty item.
func TestFieldsOfAllItems(t *testing.T) {
	checkFields[api.SoAItem](t)
	checkFields[api.Finding](t)
	checkFields[api.MaturityScore](t)
	checkFields[api.POAMItem](t)
}

func checkFields[I any](t *testing.T) {
	_, err := itemfilter.Compile[I]("zzzzzzzz")
	_, example, _ := strings.Cut(err.Error(), "for example ")
	example, _, _ = strings.Cut(example, " (column")
	if _, err := itemfilter.Compile[I](example); err != nil {
		t.Errorf("%T: the example of the error: %v", *new(I), err)
	}
	for _, name := range itemfilter.Names[I]() {
		f, err := itemfilter.Compile[I](name + " == " + name)
		if err != nil {
			t.Errorf("%T: %v", *new(I), err)
			continue
		}
		if !f.Selects(new(I)) {
			t.Errorf("%T: %s doesn't equal itself", *new(I), name)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`domain == "IAC" && status in ["planned"] || not (note matches "a+")`)
	f.Fuzz(func(t *testing.T, text string) {
		if filter, err := itemfilter.Compile[api.SoAItem](text); err == nil {
			filter.Selects(&api.SoAItem{})
		} else if !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%v", err)
		}
	})
}

// TestMissingDates checks that an item without a date is neither before nor after another date.
func TestMissingDates(t *testing.T) {
	due := api.Date("2027-03-31")
	for filter, want := range map[string][2]bool{ // for a finding with a date, and one without
		`due < "2027-04-01"`:              {true, false},
		`"2027-04-01" >= due_date`:        {true, false},
		`due > "2027-01-01"`:              {true, false},
		`not (due < "2027-04-01")`:        {false, true},
		`due == ""`:                       {false, true},
		`due != "2027-03-31"`:             {false, true},
		`due < "2027-04-01" || due == ""`: {true, true},
	} {
		f, err := itemfilter.Compile[api.Finding](filter)
		if err != nil {
			t.Fatalf("%s: %v", filter, err)
		}
		if got := [2]bool{f.Selects(&api.Finding{DueDate: &due}), f.Selects(&api.Finding{})}; got != want {
			t.Errorf("%s: %v, not %v", filter, got, want)
		}
	}
}
