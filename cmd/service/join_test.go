package main

import (
	"strconv"
	"syscall"
	"testing"
)

// TestCommandsShareFolder checks that several concurrent commands can use the process that has the
// folder open, and that the next command can open the folder after it has ended.
func TestCommandsShareFolder(t *testing.T) {
	u := newTestUser(t)
	first, release := u.holdFolder()
	var joined []*running
	for i := range 6 {
		joined = append(joined, u.start(u.command("assess", "create", "Joined "+strconv.Itoa(i))))
	}
	for _, r := range joined {
		r.expectExit(0)
	}
	if first.cmd.ProcessState != nil {
		t.Error("the first process ended early")
	}
	release()
	first.expectExit(0)
	out := readJSON[struct{ Data []struct{ Name string } }](u, "assess", "list")
	if len(out.Data) != 6 {
		t.Errorf("%d assessments are there, not 6: %+v", len(out.Data), out.Data)
	}
}

// TestCommandOutlivesFolderOwner checks that a command finishes its work regardless of how the process ends that has
// the folder open.
func TestCommandOutlivesFolderOwner(t *testing.T) {
	for name, stop := range map[string]func(first *running, release func()){
		"ended":       func(_ *running, release func()) { release() },
		"interrupted": func(first *running, _ func()) { first.signal(syscall.SIGINT) },
		"killed":      func(first *running, _ func()) { first.signal(syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTestUser(t)
			first, release := u.holdFolder()
			second := u.start(u.command("assess", "run", u.writeEvidence(), "--name", "Second", "-f", "lgpd", "--approve"))
			third := u.start(u.command("assess", "list"))
			second.waitFor(" added, 0 changed")
			stop(first, release)
			second.expectExit(0)
			third.expectExit(0)
			first.wait()
			got := u.outcome()
			if len(got.Documents) != 7 || got.States[len(got.States)-1] != "report_generated" || len(got.Versions["soa"]) != 1 ||
				len(got.Versions["poam"]) != 1 {
				t.Errorf("the second command came to %+v", got)
			}
		})
	}
}

// TestManyConcurrentCommands checks that many commands succeed that open and close the folder in turn.
func TestManyConcurrentCommands(t *testing.T) {
	u := newTestUser(t)
	var crowd []*running
	for i := range 30 {
		crowd = append(crowd, u.start(u.command("assess", "create", "Crowd "+strconv.Itoa(i), "-q")))
	}
	for _, r := range crowd {
		r.expectExit(0)
	}
	if out := readJSON[struct{ Data []struct{ Name string } }](u, "assess", "list"); len(out.Data) != 30 {
		t.Errorf("%d assessments are there, not 30", len(out.Data))
	}
}
