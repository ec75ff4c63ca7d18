package judge

import "testing"

// One of two alternatives is enough, unless it is denied.
func TestAlternatives(t *testing.T) {
	for _, tc := range []struct {
		statement, text string
		want            []string
	}{
		{
			"Real-time or behavior-based scanning is active.",
			"Antivirus: Defender is installed on all computers, signatures update daily, real-time protection is on.",
			[]string{VerdictPartial, VerdictCovered},
		},
		{
			"Real-time or behavior-based scanning is active.",
			"Behavior-based scanning for malware is active on all laptops.",
			[]string{VerdictPartial, VerdictCovered},
		},
		{
			"Real-time or behavior-based scanning is active.",
			"Antivirus: real-time protection is not on.",
			[]string{VerdictDenied, VerdictMissing},
		},
	} {
		v := judge(t, control("Protection against malware", tc.statement), policy(tc.text)).Statements[0]
		ok := false
		for _, w := range tc.want {
			ok = ok || v.Verdict == w
		}
		if !ok {
			t.Errorf("%q says of %q: %s (%.2f: %s), want one of %v", tc.text, tc.statement, v.Verdict, v.Score, v.Reason, tc.want)
		}
	}
}
