package linereader

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestNext(t *testing.T) {
	in := bufio.NewReaderSize(strings.NewReader(" a \r\n\n"+strings.Repeat("x", 100)+"\n"+strings.Repeat("y", 40)+"\nlast"), 16)
	var got []string
	for {
		line, long, err := ReadLine(in, 50)
		got = append(got, fmt.Sprint(string(line), long))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := fmt.Sprint([]string{"afalse", "false", "true", strings.Repeat("y", 40) + "false", "lastfalse"}); fmt.Sprint(got) != want {
		t.Errorf("%v, not %v", got, want)
	}
}
