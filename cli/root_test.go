package cli

import "testing"

func TestCountArgs(t *testing.T) {
	for use, want := range map[string][2]int{
		"list":                              {0, 0},
		"show ID":                           {1, 1},
		"show [ID|NAME]":                    {0, 1},
		"rename NAME NEW-NAME":              {2, 2},
		"signal NAME [ID]":                  {1, 2},
		"add FILE|DIR…":                     {1, -1},
		"run [DIR|FILE…]":                   {0, -1},
		"send ADDRESS...":                   {1, -1},
		"create NAME --when 'METRIC > 4'":   {1, 1},
		"judgement [--set DIR]":             {0, 0},
		"resolve ID LINK --keep plan|issue": {2, 2},
	} {
		if minArgs, maxArgs := countArgs(use); [2]int{minArgs, maxArgs} != want {
			t.Errorf("countArgs(%q) = %d, %d, want %v", use, minArgs, maxArgs, want)
		}
	}
}
