package regularfile

import (
	"strings"
	"testing"
)

// TestProcFilesAreRefused checks that files in /proc are rejected although they claim to be regular.
func TestProcFilesAreRefused(t *testing.T) {
	for _, path := range []string{"/proc/self/status", "/proc/self/pagemap"} {
		if _, err := Read(path, 10); err == nil || !strings.Contains(err.Error(), path+": the system generates this file's content") {
			t.Errorf("%s: %v", path, err)
		}
	}
	tree, err := OpenTree(t.Context(), "/proc/self", NoLimit)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Open("status"); err == nil || !strings.Contains(err.Error(), "the system generates this file's content") {
		t.Errorf("in its folder: %v", err)
	}
}
