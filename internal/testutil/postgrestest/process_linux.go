package postgrestest

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/programtest"
)

// setProcess makes a command run as another user and end when this process ends.
func setProcess(cmd *exec.Cmd, account *user.User) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if account == nil {
		return
	}
	uid, _ := strconv.ParseUint(account.Uid, 10, 32)
	gid, _ := strconv.ParseUint(account.Gid, 10, 32)
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// runLocked runs a command. It stays on one thread, because Linux sends the signal set above when the thread ends
// that started the command.
func runLocked(cmd *exec.Cmd, started chan<- error, exited chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait()
		close(exited)
	}
}

// LimitFileSize limits the size of the server's files to n bytes, or lifts the limit if n is 0. Writing more fails as it
// does on a full disk: PostgreSQL reports a write that is cut short as such, so n must not be a multiple of 8 KiB.
func (s *Server) LimitFileSize(t testing.TB, n uint64) {
	t.Helper()
	limit := "unlimited"
	if n > 0 {
		limit = strconv.FormatUint(n, 10)
	}
	for _, pid := range append(s.children(t), s.process.Process.Pid) {
		// Only the server's own user may do this, or one with a privilege that containers don't have.
		cmd := exec.CommandContext(t.Context(), programtest.FindOrSkip(t, "prlimit"), "--pid", strconv.Itoa(pid), "--fsize="+limit+":")
		setProcess(cmd, s.account)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("prlimit: %v\n%s", err, out)
		}
	}
}

// children returns the server's processes other than the first one.
func (s *Server) children(t testing.TB) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parent := []byte(" " + strconv.Itoa(s.process.Process.Pid) + " ")
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// After the name in parentheses, there are the state, one letter, and the parent.
		if after := stat[bytes.LastIndexByte(stat, ')')+1:]; len(after) > 3 && bytes.HasPrefix(after[2:], parent) {
			pids = append(pids, number(t, filepath.Base(filepath.Dir(path))))
		}
	}
	return pids
}

// ProcessorTime returns the processor time that the shared server has used.
func ProcessorTime(t testing.TB) (used time.Duration) {
	t.Helper()
	for _, pid := range append(shared.children(t), shared.process.Process.Pid) {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue // the process has ended; the first one counts it
		}
		// After the name in parentheses, fields 12 and 13 are ticks of 10 ms in the program and in the system. Those of the
		// processes that have ended follow.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		for _, ticks := range fields[11:15] {
			used += time.Duration(number(t, string(ticks))) * 10 * time.Millisecond
		}
	}
	return used
}
