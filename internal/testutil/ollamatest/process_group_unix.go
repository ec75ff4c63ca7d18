//go:build unix

package ollamatest

import (
	"os/exec"
	"syscall"
)

// setProcessGroup puts what the program starts in one group with it: a runner outlives its server.
func setProcessGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killProcessGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // it may be gone already
