//go:build !linux

package postgrestest

import (
	"os/exec"
	"os/user"
)

func setProcess(*exec.Cmd, *user.User) {}

func runLocked(cmd *exec.Cmd, started chan<- error, exited chan<- struct{}) {
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait()
		close(exited)
	}
}
