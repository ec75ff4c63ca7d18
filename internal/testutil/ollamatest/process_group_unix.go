//go:build unix

package ollamatest

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts the program in a new process group, because the program's runners outlive it.
func setProcessGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killProcessGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // it may have exited already
