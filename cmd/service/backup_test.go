package main

import "testing"

// TestCheckBackupFile checks that files are rejected that would prevent the restored folder from being opened.
func TestCheckBackupFile(t *testing.T) {
	for _, c := range []struct {
		name, content string
		valid         bool
	}{
		{modelFile, `{"model": "llama3"}`, true},
		{modelFile, "{{{", false},
		{modelFile, `{"model": "lla`, false},
		{secretKeyFile, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", true},
		{secretKeyFile, "AAAA\n", false},
		{secretKeyFile, "", false},
	} {
		if err := validateBackedUpFile(c.name, []byte(c.content)); (err == nil) != c.valid {
			t.Errorf("%s %q: %v", c.name, c.content, err)
		}
	}
}
