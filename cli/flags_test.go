package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestEnableFlags checks that only a flag set to true changes the field, and that --enable and --disable accept only
// Boolean values.
func TestEnableFlags(t *testing.T) {
	for _, tt := range []struct {
		args    []string
		want    *bool
		invalid bool
	}{
		{},
		{args: []string{"--enable"}, want: new(true)},
		{args: []string{"--enable=1"}, want: new(true)},
		{args: []string{"--enable=false"}},
		{args: []string{"--disable"}, want: new(false)},
		{args: []string{"--disable=false"}},
		{args: []string{"--enable=maybe"}, invalid: true},
		{args: []string{"--disable="}, invalid: true},
	} {
		var enabled *bool
		cmd := &cobra.Command{}
		addEnableFlags(cmd, &enabled, "resume it", "pause it")
		err := cmd.ParseFlags(tt.args)
		if (err != nil) != tt.invalid {
			t.Errorf("%q: %v", tt.args, err)
		}
		if (enabled == nil) != (tt.want == nil) || enabled != nil && *enabled != *tt.want {
			t.Errorf("%q sets %v, want %v", tt.args, enabled, tt.want)
		}
	}
}
