package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

func TestReviewOfItems(t *testing.T) {
	f := newFake(40)
	s := newStage(t, f)
	s.sees("Acme 2026", "28%")
	s.review("1")
	s.sees("Statement of Applicability v1, draft", "IAC-00", "20 to review", "Half of it is said.", "A.5.1", "Access rights are reviewed")

	s.press("y") // accepts the first item and moves to the next open one
	if f.items[0].NeedsReview || f.items[0].EditedFields[0] != "needs_review" {
		t.Errorf("%+v", f.items[0].Item)
	}
	s.sees("3 of 40, 19 to review")

	s.press("s", "1")
	if f.items[2].ImplementationStatus != api.Implemented || f.items[2].NeedsReview {
		t.Errorf("%+v", f.items[2])
	}
	s.press("u")
	if it := f.items[2]; it.ImplementationStatus != api.Planned || !it.NeedsReview ||
		slices.Contains(it.EditedFields, "implementation_status") {
		t.Errorf("undone: %v %v %v", it.ImplementationStatus, it.NeedsReview, it.EditedFields)
	}
	s.press("o")
	s.write("IT lead")
	s.press("enter", "n")
	s.write("seen")
	s.press("ctrl+j")
	s.write("twice")
	s.press("enter")
	if *f.items[2].Owner != "IT lead" || *f.items[2].Note != "seen\ntwice" {
		t.Errorf("%v %v", *f.items[2].Owner, *f.items[2].Note)
	}
	s.press("o", "ctrl+u", "enter")
	if f.items[2].Owner != nil {
		t.Errorf("owner %q", *f.items[2].Owner)
	}

	// Excluding a control requires a reason.
	s.press("a", "4", "enter")
	s.sees("a reason is required")
	s.write("No such thing")
	s.press("enter")
	if it := f.items[2]; it.Applicability != api.OutOfScope || it.Rationale != "No such thing" {
		t.Errorf("%v %q", it.Applicability, it.Rationale)
	}
	s.press("u")
	if it := f.items[2]; it.Applicability != api.Applicable || it.Rationale != "It concerns everybody." {
		t.Errorf("%v %q", it.Applicability, it.Rationale)
	}
}

// TestReadersDisagree checks that items on which a second reader disagrees come first, and that both sides are shown.
func TestReadersDisagree(t *testing.T) {
	f := newFake(40)
	for _, n := range []int{8, 22} {
		f.items[n].Evidence[1].Statement = "Rights are revoked."
		f.items[n].SecondReading = &api.SecondReading{
			Reader: "model.small.1f", ImplementationStatus: api.NotImplemented, Reason: "The documents state that this is not done.",
			Statements: []api.Statement{{Text: "Rights are revoked.", Verdict: "denied"}},
			Evidence:   []api.Evidence{{Filename: "audit.txt", Quote: "Two leavers kept their rights.", Statement: "Rights are revoked."}},
		}
	}
	s := newStage(t, f)
	v := s.review("1")
	s.size(140, 60)
	s.press("y") // the next to review would be the third
	s.sees("9 of 40, 19 to review", "IAC-08≠", "The second reader, model.small.1f, says: not implemented.",
		"first reader: partial", "Access rights are reviewed", "second reader: denied", "Two leavers kept their rights.", "audit.txt")
	s.press("D")
	s.sees("1 of 2, 19 to review, only items on which the readers disagree (D)")
	s.press("y")
	s.sees("2 of 2, 18 to review")
	s.press("D", "y")
	s.sees("of 40, 17 to review")
	if r := v.selectedRow(); v.kind.isDisputed(r) {
		t.Errorf("%s is accepted already", v.kind.keyOf(r.item))
	}
	other := newStage(t, newFake(3))
	other.review("1")
	other.press("D")
	other.sees("the second reader does not disagree on any item")
}

func TestManyAtOnce(t *testing.T) {
	f := newFake(1468)
	s := newStage(t, f)
	v := s.review("1")
	if len(v.rows) != 1468 {
		t.Fatalf("%d rows", len(v.rows))
	}
	s.press("/")
	s.write("number 14")
	s.sees("/number 14", "102 of 1468")
	s.press("enter", "*")
	s.sees("Esc shows all")
	s.press("o")
	s.sees("Owner of 102 items")
	s.write("Ada")
	s.press("enter")
	owned := 0
	for _, it := range f.items {
		if it.Owner != nil && *it.Owner == "Ada" {
			owned++
		}
	}
	if owned != 102 || s.app.saver.unsavedCount() != 0 {
		t.Errorf("%d owned, %d wait", owned, s.app.saver.unsavedCount())
	}
	s.press("u")
	for _, it := range f.items {
		if it.Owner != nil || slices.Contains(it.EditedFields, "owner") {
			t.Fatalf("%s keeps %v, %v", it.ControlCode, it.Owner, it.EditedFields)
		}
	}
	s.press("esc", "esc")
	s.sees("1468")
	s.press("w")
	s.sees("others hidden")
	for _, i := range v.list.VisibleRows() {
		if !v.kind.isOpen(v.rows[i]) {
			t.Fatalf("%s waits for nobody", v.ID(i))
		}
	}
	if n := len(v.list.VisibleRows()); n != 734 {
		t.Errorf("%d shown", n)
	}
}

func TestAnotherPersonWasFirst(t *testing.T) {
	for key, want := range map[string]string{"m": "mine", "t": "theirs"} {
		t.Run(key, func(t *testing.T) {
			f := newFake(3)
			s := newStage(t, f)
			v := s.review("1")
			theirs, who := "theirs", "Bo"
			f.items[0].Owner, f.items[0].EditedBy, f.items[0].Revision = &theirs, &who, 2
			s.press("o", "ctrl+u")
			s.write("mine")
			s.press("enter")
			s.sees("IAC-00 was changed by Bo while you were editing it", "mine:   mine", "theirs: theirs")
			if *f.items[0].Owner != "theirs" {
				t.Error("overwritten")
			}
			s.press("esc")
			s.sees("1 change has not been saved")
			s.press("!", key)
			if *f.items[0].Owner != want || s.app.saver.unsavedCount() != 0 || v.rows[0].hasConflict {
				t.Errorf("%q, %d wait", *f.items[0].Owner, s.app.saver.unsavedCount())
			}
			s.sees(want)
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	f := newFake(3)
	s := newStage(t, f)
	s.review("1")
	down := true
	f.on = func(string, any) error {
		if down {
			return fmt.Errorf("%w from acme.example: %w", client.ErrUnreachable, errors.New("connection refused"))
		}
		return nil
	}
	s.press("s", "2", "down", "s", "1")
	s.sees("2 changes are kept, retrying in", "no answer from acme.example", "…")
	s.press("q") // leaving the screen loses nothing
	s.press("1")
	s.press("ctrl+c")
	s.sees("2 changes are not saved yet. Quit and discard all unsaved changes?")
	s.press("n")
	down = false
	s.fire()
	if f.items[0].ImplementationStatus != api.PartiallyImplemented || f.items[1].ImplementationStatus != api.Implemented ||
		s.app.saver.unsavedCount() != 0 {
		t.Errorf("%v %v, %d wait", f.items[0].ImplementationStatus, f.items[1].ImplementationStatus, s.app.saver.unsavedCount())
	}
	s.misses("no answer", "kept")
	s.press("ctrl+c")
	if !s.quit {
		t.Error("still there")
	}
}

// TestLostAnswer checks that a change whose response was lost is not applied twice and causes no
// conflict.
func TestLostAnswer(t *testing.T) {
	f := newFake(3)
	s := newStage(t, f)
	s.review("1")
	f.after = func(op string) error {
		if op != "update-soa-item" {
			return nil
		}
		f.after = nil
		return client.ErrConnectionLost
	}
	s.press("s", "2")
	s.sees("the connection was lost before", "1 change is kept")
	s.press("ctrl+r")
	if f.items[0].Revision != 2 || s.app.saver.unsavedCount() != 0 {
		t.Errorf("revision %d, %d wait", f.items[0].Revision, s.app.saver.unsavedCount())
	}
	s.misses("changed by", "the connection was lost before the server responded")
}

func TestRefusedChange(t *testing.T) {
	f := newFake(3)
	s := newStage(t, f)
	s.review("1")
	f.on = func(op string, _ any) error {
		if op == "update-soa-item" {
			return api.Invalid("owner", "nobody is called so")
		}
		return nil
	}
	s.press("o")
	s.write("Zed")
	s.press("enter")
	s.sees("nobody is called so", "✗")
	f.on = nil
	s.press("o") // the rejected input is offered again
	s.sees("Zed")
	s.press("enter")
	if *f.items[0].Owner != "Zed" {
		t.Errorf("%v", f.items[0].Owner)
	}
}

// TestApprovedVersionIsFollowed checks that a change of an approved version creates the next
// version, and that later changes go there.
func TestApprovedVersionIsFollowed(t *testing.T) {
	f := newFake(3)
	f.soa.Status = api.VersionApproved
	s := newStage(t, f)
	v := s.review("1")
	f.on = func(op string, in any) error {
		x, is := in.(*api.UpdateSoAItemInput)
		if !is || f.soa.ID == "soa2" {
			return nil
		}
		f.soa.ID, f.soa.VersionNumber, f.soa.Status, f.soa.ContentSHA256 = "soa2", 2, api.VersionDraft, "c2"
		for _, it := range f.items {
			if it.ID == x.SoAItemID {
				x.SoAItemID += "v2"
			}
			it.ID, it.VersionID = it.ID+"v2", "soa2"
		}
		return nil
	}
	s.press("*", "o")
	s.sees("This version is approved and can't be changed")
	s.press("y")
	s.write("Ada")
	s.press("enter")
	for _, it := range f.items {
		if it.Owner == nil || *it.Owner != "Ada" {
			t.Errorf("%s: %v", it.ID, it.Owner)
		}
	}
	if v.version.ID != "soa2" || s.app.saver.unsavedCount() != 0 {
		t.Errorf("%s, %d wait", v.version.ID, s.app.saver.unsavedCount())
	}
	s.sees("v2, draft")
}

// TestKeysInOnePiece checks that keys that arrive in one read are all handled.
func TestKeysInOnePiece(t *testing.T) {
	s := newStage(t, newFake(30))
	s.review("1")
	s.press("jjj")
	s.sees("4 of 30")
	s.press("/iac-1")
	s.sees("/iac-1", "10 of 30")
}

func TestFindings(t *testing.T) {
	f := newFake(10)
	s := newStage(t, f)
	s.review("2")
	s.press("v", "3", "d")
	s.write("tomorrow")
	s.press("enter")
	s.sees("is not a date; use the form 2026-12-31")
	s.press("ctrl+u")
	s.write("2027-01-31")
	s.press("enter")
	if f.findings[0].Severity != api.SeverityMedium || *f.findings[0].DueDate != "2027-01-31" {
		t.Errorf("%+v", f.findings[0])
	}
	s.press("y")
	s.misses("accept")
	s.press("d")
	s.write("2027-03-01") // replaces the old date
	s.press("enter")
	if got := *f.findings[0].DueDate; got != "2027-03-01" {
		t.Errorf("the new date is %s", got)
	}
}

// TestGanttLabels checks that the months of a long plan are not drawn over each other.
func TestGanttLabels(t *testing.T) {
	f := newFake(5)
	f.plan[0].DueDate = "2028-12-31"
	s := newStage(t, f)
	s.review("4")
	s.press("g")
	if !regexp.MustCompile(`(?m)^today \S+(?: +[A-Z][a-z]{2} 2\d){3,}\s*$`).MatchString(s.text()) {
		t.Error(s.text())
	}
}

// TestDecisionOnUnratedScores checks that scores of controls that are not assessed are not counted as level 0.
func TestDecisionOnUnratedScores(t *testing.T) {
	f := newFake(8)
	f.pending = []api.Approval{{
		AssessmentID: "a1", Gate: api.GateMaturity, TargetID: f.maturity.ID, VersionNumber: 1, Status: api.ApprovalPending,
	}}
	s := newStage(t, f)
	s.press("enter", "A")
	s.sees("0 not performed: 1, 1 performed informally: 2", "not assessed: 2", "8, 4 below target")
	s.press("a")
	s.sees("Enter approve")
}

func TestDecisionBindsWhatWasShown(t *testing.T) {
	f := newFake(5)
	f.soa.Status = api.VersionUnderReview
	f.pending = []api.Approval{
		{
			AssessmentID:  "a1",
			Gate:          api.GateSoA,
			TargetID:      "soa1",
			TargetSHA256:  "c1",
			VersionNumber: 1,
			Status:        api.ApprovalPending,
			RequestedBy:   api.Actor{Name: "Bo"},
		},
	}
	f.talk = []api.Comment{{Author: api.Actor{Name: "Cy"}, Text: "Look at IAC-03", VersionNumber: 1}}
	s := newStage(t, f)
	s.press("enter", "A")
	s.sees(
		"Approval of the Statement of Applicability for Acme 2026, version 1",
		"sha256 c1",
		"requested by",
		"Bo",
		"5 applicable",
		"3 to review",
		"Look at IAC-03",
	)
	f.soa.ContentSHA256 = "c2" // someone changes it now
	s.press("a", "enter")
	s.sees("the content is another by now")
	f.soa.ContentSHA256 = "c1"
	s.press("ctrl+r", "r", "enter")
	s.sees("a rejection requires a reason")
	s.press("esc", "a")
	s.write("with IT")
	s.press("enter")
	s.sees("version 1, is approved")
	if got := f.approved; len(got) != 2 || got[0].ContentSHA256 != "c1" ||
		got[1] != (api.VersionDecision{Comment: "with IT", ContentSHA256: "c2"}) && got[1].ContentSHA256 != "c1" {
		t.Errorf("%+v", got)
	}
	if f.soa.Status != api.VersionApproved {
		t.Error(f.soa.Status)
	}
}

func TestSearchDropsStaleAnswers(t *testing.T) {
	f := newFake(1)
	s := newStage(t, f)
	s.press("enter", "7")
	s.write("backup")
	if n := len(s.waits); n != 6 {
		t.Fatalf("%d questions wait", n)
	}
	f.hits = []api.SearchHit{{Filename: "backup.md", Text: "Backups are tested", Score: 0.9}}
	s.fire()
	if n := slices.Index(f.said, "search-kb"); n < 0 || slices.Contains(f.said[n+1:], "search-kb") {
		t.Errorf("asked not once: %v", f.said)
	}
	s.sees("backup.md", "Backups are tested")
	// A response that arrives after the text has changed is dropped.
	s.write("s")
	ask := s.waits
	s.waits = nil
	cmd := ask[0]()
	late := cmd()
	s.write("x")
	f.hits = nil
	s.app.Update(late)
	s.sees("backup.md") // still the previous result: the late response was dropped, and the last query is not sent yet
	s.fire()
	s.sees("No matching passages.")
}

func TestPassageOfAQuote(t *testing.T) {
	f := newFake(1)
	for i := range 30 {
		f.chunks = append(
			f.chunks,
			api.Chunk{
				ID: fmt.Sprintf("c%d", i),
				Text: fmt.Sprintf(
					"Passage number %d. Access rights are reviewed every quarter by the owner of the system and revoked on leaving. More.",
					i,
				),
				HeadingPath: []string{"Rules"},
			},
		)
	}
	s := newStage(t, f)
	s.review("1")
	s.press("]", "p")
	s.sees("policy.docx", "› 2. Rules", "Passage number 1.")
	if !strings.Contains(s.app.View(), "\x1b[7mAccess\x1b[0m") {
		t.Error("the quote is not marked")
	}
	s.press("n")
	s.misses("› 2. Rules")
	s.press("q")
	s.sees("Half of it is said.")
}

func TestExport(t *testing.T) {
	f := newFake(30)
	owner := "=cmd()"
	f.items[11].Owner = &owner
	s := newStage(t, f)
	s.review("1")
	s.press("/")
	s.write("iac-1")
	s.press("enter", "x", "x")
	s.sees("10 rows written to")
	for _, name := range []string{"acme-2026-soa.csv", "acme-2026-soa-2.csv"} {
		b, err := os.ReadFile(filepath.Join(s.app.ExportFolder, name))
		if err != nil || strings.Count(string(b), "\n") != 11 || !strings.Contains(string(b), "control_code") ||
			!strings.Contains(string(b), ",'=cmd()") {
			t.Errorf("%s: %v, %.200s", name, err, b)
		}
	}
}

func TestHistory(t *testing.T) {
	f := newFake(3)
	f.talk = []api.Comment{{Author: api.Actor{Name: "Cy"}, Text: "Is that so?", VersionNumber: 1}}
	s := newStage(t, f)
	s.review("1")
	s.press("h")
	s.sees("Is that so?", "changed: owner")
	n := len(f.said)
	s.press("down")
	if len(f.said) != n {
		t.Error("asked before the cursor rested")
	}
	s.fire()
	if len(f.said) != n+2 {
		t.Errorf("asked %v", f.said[n:])
	}
}

// An item that was accepted together with others is only read once its own verdict is decided on, not by a later change of
// another field that is sent with the acceptance.
func TestMergedChangesKeepHowItWasAccepted(t *testing.T) {
	accepted := &pendingEdit{key: "IAC-06", values: map[string]string{"needs_review": "false"}, inBulk: true}
	s := &saver{queue: []*pendingEdit{accepted}}
	unsent := map[string]*pendingEdit{accepted.key: accepted}
	s.enqueueOrMerge(&pendingEdit{key: accepted.key, values: map[string]string{"owner": "Ada"}}, unsent)
	if !accepted.inBulk || accepted.values["owner"] != "Ada" {
		t.Errorf("with an owner: %+v", accepted)
	}
	s.enqueueOrMerge(&pendingEdit{key: accepted.key, values: map[string]string{"implementation_status": "planned"}}, unsent)
	if accepted.inBulk || len(s.queue) != 1 {
		t.Errorf("with a decided status: %+v", accepted)
	}
}
