package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// awaitLimit bounds the wait of a script. Nothing that a script waits for takes nearly as long.
const awaitLimit = 2 * time.Minute

// await is a program for scripts. It runs the command in its arguments again and again until it succeeds, and prints the output of
// the last attempt. If none succeeds within awaitLimit, await fails.
func await() {
	ctx, cancel := context.WithTimeout(context.Background(), awaitLimit)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, os.Args[1], os.Args[2:]...)
		cmd.WaitDelay = time.Second // a process that it started may keep the pipes open
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if err == nil || ctx.Err() != nil {
			_, _ = stdout.WriteTo(os.Stdout)
			_, _ = stderr.WriteTo(os.Stderr)
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			fmt.Fprintf(os.Stderr, "%q didn't succeed within %s: %v\n", os.Args[1:], awaitLimit, err)
			os.Exit(1)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
