package assessment

import "testing"

func TestDifferInRequirementsOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string
		want          bool
	}{
		"other requirements": {`{"requirement_codes":{"a":["1"]},"level":2}`, `{"requirement_codes":{"a":["1","2"]},"level":2}`, true},
		"points of a finding": {
			`{"severity":"high","severity_points":7.1,"criteria":"Required by A."}`, `{"severity":"high","severity_points":7.2,"criteria":"Required by A and B."}`, true,
		},
		"order of the plan":  {`{"priority":1,"status":"open"}`, `{"priority":4,"status":"open"}`, true},
		"only the rationale": {`{"rationale":"A","requirement_codes":{"a":["1"]}}`, `{"rationale":"B","requirement_codes":{"a":["1"]}}`, false},
		"another severity":   {`{"severity":"high","severity_points":7.1}`, `{"severity":"medium","severity_points":6.9}`, false},
		"a person's rationale": {
			`{"rationale":"Ours.","edited_fields":["rationale"]}`, `{"rationale":"Theirs.","edited_fields":["rationale"]}`, false,
		},
	} {
		if got, err := differInRequirementsOnly([]byte(tc.before), []byte(tc.after)); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
