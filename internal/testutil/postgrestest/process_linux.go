package postgrestest

import (
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
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
