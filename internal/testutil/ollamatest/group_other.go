//go:build !unix

package ollamatest

import "os/exec"

func together(*exec.Cmd) {}

func endGroup(c *exec.Cmd) { _ = c.Process.Kill() } // it may be gone already
