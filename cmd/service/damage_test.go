package main

import (
	"bytes"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// damageFile changes the first letter of each occurrence of a text: FILE TEXT.
func damageFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE TEXT")
	}
	text, changed := []byte(args[1]), []byte(args[1])
	changed[0] ^= 1
	whole := []byte(ts.ReadFile(args[0]))
	if !bytes.Contains(whole, text) {
		ts.Fatalf("%s does not contain %q", args[0], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(whole, text, changed), 0o600))
}
