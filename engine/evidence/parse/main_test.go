package parse

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(compiled())
	os.Exit(code)
}
