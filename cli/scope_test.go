package cli

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// readScopeText reads text as a scope file.
func readScopeText(text string) (body api.ScopeBody, err error) {
	a := &app{Options: Options{Stdin: strings.NewReader(text)}}
	_, err = a.readScopeFile("-", &body)
	return body, err
}

func TestTraitsOfAScopeFile(t *testing.T) {
	yes, no := true, false
	for text, want := range map[string]*bool{
		"true": &yes, "yes": &yes, "Yes": &yes, "'TRUE'": &yes, "{value: 'true', source: person}": &yes,
		"false": &no, "no": &no, `"No"`: &no, "{value: 'false'}": &no, "unknown": nil, "null": nil, "{value: unknown}": nil,
	} {
		body, err := readScopeText("traits: {has_ot: " + text + "}")
		setting, set := body.Traits["has_ot"]
		got := setting.Value
		if err != nil || !set || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"off", "on", `"0"`, "0", "1", "maybe", `""`, "{value: nonsense}", "{}", "{value: null}", "[true]"} {
		_, err := readScopeText("traits: {has_ot: " + text + "}")
		if err == nil || !strings.Contains(err.Error(), "has_ot") {
			t.Errorf("%s was taken: %v", text, err)
		}
	}
	var body api.ScopeBody
	for _, flag := range []string{"has_ot=", "has_ot=maybe", "has_ot"} {
		if err := setTraits(&body, []string{flag}); err == nil || len(body.Traits) > 0 {
			t.Errorf("--trait %s was taken", flag)
		}
	}
}
