package judge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// twoSubjects is an embedder that knows two subjects: sign-in and water.
func twoSubjects(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{0, 0}
		t = strings.ToLower(t)
		switch {
		case strings.Contains(t, "leaver") || strings.Contains(t, "last day"):
			out[i][0] = 1
		case strings.Contains(t, "water"):
			out[i][1] = 1
		}
	}
	return out, nil
}

func TestMeaningCountsBesideWords(t *testing.T) {
	c := control("Leaving", "Accounts of leavers are disabled on the last working day.")
	for _, tc := range []struct{ name, text, with, without string }{
		{"said otherwise", "The directory disables the identity at 18:00 on the last day.", VerdictCovered, VerdictPartial},
		{"close in meaning, denied", "Accounts are not disabled on the last day.", VerdictDenied, VerdictDenied},
		{
			"close in meaning, planned",
			"From Q3 2027 the directory will be introduced that disables accounts on the last day.",
			VerdictPlanned,
			VerdictPlanned,
		},
		{"of something else", "The water is drained before winter by the caretaker.", VerdictMissing, VerdictMissing},
	} {
		for _, o := range []struct {
			m    *Embedder
			want string
		}{{&Embedder{Embed: twoSubjects, Mean: 0.1, Deviation: 0.1}, tc.with}, {nil, tc.without}} {
			j, err := Evaluate(context.Background(), c, fixed{withScore(policy(tc.text))}, Options{Today: today, Embedder: o.m})
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Statements[0]; got.Verdict != o.want {
				t.Errorf("%s, embedder %v: %s (%.2f: %s), want %s", tc.name, o.m != nil, got.Verdict, got.Score, got.Reason, o.want)
			}
		}
	}
}

func withScore(p Passage) Passage {
	p.Score = 0.6
	return p
}

func TestEmbedderErrorIsReturned(t *testing.T) {
	for name, embed := range map[string]func(context.Context, []string) ([][]float32, error){
		"error":   func(context.Context, []string) ([][]float32, error) { return nil, errors.New("model is gone") },
		"too few": func(context.Context, []string) ([][]float32, error) { return nil, nil },
	} {
		_, err := Evaluate(
			context.Background(),
			encryption,
			fixed{withScore(policy("Laptops are encrypted."))},
			Options{Embedder: &Embedder{Embed: embed}},
		)
		if err == nil || !strings.Contains(err.Error(), encryption.Code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Table rows are judged separately: a denial in one does not affect the next.
func TestRowsAreJudgedSeparately(t *testing.T) {
	rows := policy(
		"No.: 1; System: Laptops; Encrypted: yes, by the IT team\nNo.: 2; System: Printers; Encrypted: no; Remark: none\n" +
			"The list is checked each year",
	)
	j := judge(t, control("Laptop encryption", "Laptops are encrypted."), rows)
	if v := j.Statements[0].Verdict; v == VerdictDenied || v == VerdictConflicting || v == VerdictMissing {
		t.Errorf("%s: %s", v, j.Statements[0].Reason)
	}
	for _, e := range j.Evidence {
		if strings.Contains(e.Quote, "Printers") {
			t.Errorf("the quote %q runs over two rows", e.Quote)
		}
	}
}

// A heading in the passage provides the subject of the sentences below it.
func TestHeadingInThePassage(t *testing.T) {
	c := control("Backups", "Backups of databases are encrypted.")
	under := judge(t, c, policy("Backup of databases\nFiles are encrypted with AES-256 by the storage team."))
	alone := judge(t, c, policy("Files are encrypted with AES-256 by the storage team."))
	if under.Statements[0].Score <= alone.Statements[0].Score {
		t.Errorf("under its heading %.2f, alone %.2f", under.Statements[0].Score, alone.Statements[0].Score)
	}
}

func TestStatusFollowsFromShares(t *testing.T) {
	c := control(
		"Device encryption",
		"Laptops are encrypted.",
		"Recovery keys are stored by the IT team.",
		"Phones are locked after five minutes.",
		"Visitors wear badges.",
	)
	ps := []Passage{
		policy(
			"All laptops must be encrypted by the IT team with BitLocker.",
		), policy("Recovery keys are stored by the IT team in the vault."),
		policy("Phones are locked by the MDM tool after five minutes."),
	}
	for n, want := range []api.Implementation{api.NotEvidenced, api.NotEvidenced, api.PartiallyImplemented, api.Implemented} {
		if j := judge(t, c, ps[:n]...); j.Implementation != want {
			t.Errorf("%d of 4: %s, want %s: %s", n, j.Implementation, want, j.Reason)
		}
	}
}
