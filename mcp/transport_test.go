package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// sendLines sends all lines of in at once and returns the responses, each of which must be a message.
func sendLines(t testing.TB, o Options, in io.Reader) (out []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	o.In, o.Out = in, &b
	if o.Permissions == nil {
		o.Permissions = api.AllPermissions()
	}
	if err := Serve(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&b)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m map[string]any
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m["jsonrpc"] != "2.0" {
			t.Fatalf("a line that is no message: %.200q, %v", lines.Text(), err)
		}
		out = append(out, m)
	}
	return out
}

func answerTo(all []map[string]any, id float64) map[string]any {
	for _, m := range all {
		if m["id"] == id {
			return m
		}
	}
	return nil
}

// TestHostileLines checks that invalid input leads only to protocol messages, and that later calls
// are answered.
func TestHostileLines(t *testing.T) {
	c := newLocalClient(t)
	for name, bad := range map[string]string{
		"garbage":       "what?\n\x00\xff\n{\n",
		"10 MB":         strings.Repeat("x", 10<<20) + "\n",
		"10 MB of JSON": `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 10<<20) + `"}}` + "\n",
		"deep":          strings.Repeat("[", 100000) + "\n",
		"deep arguments": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list-assessments","arguments":` + strings.Repeat(
			`{"a":`,
			10000,
		) + "1" + strings.Repeat("}", 10000) + "}}\n",
		"batch":      "[" + strings.TrimSpace(strings.SplitN(hello, "\n", 2)[0]) + "]\n[]\n",
		"no version": `{"id":7,"method":"ping"}` + "\n",
		"odd id":     `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			all := sendLines(
				t,
				Options{Client: c},
				strings.NewReader(hello+bad+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list-scf-domains"}}`),
			)
			if m := answerTo(all, 2); m == nil || m["result"] == nil {
				t.Errorf("the call behind it is answered with %v", m)
			}
			refused := false
			for _, m := range all {
				refused = refused || m["error"] != nil
			}
			if !refused {
				t.Errorf("nothing is said of it: %v", all)
			}
		})
	}
}

func TestWrongCalls(t *testing.T) {
	all := sendLines(
		t,
		Options{Client: newLocalClient(t)},
		strings.NewReader(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"approve"}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":17}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list-assessments","arguments":[1]}}
{"jsonrpc":"2.0","id":5,"method":"tools/explode"}
{"jsonrpc":"2.0","id":6,"method":"tools/call"}
{"jsonrpc":"2.0","id":99,"result":{}}
{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"list-assessments","arguments":{"limit":1,"limit":2}}}
{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"list-assessments","arguments":null}}
`),
	)
	for _, id := range []float64{2, 3, 5, 6} {
		if m := answerTo(all, id); m == nil || m["error"] == nil {
			t.Errorf("%v is answered with %v", id, m)
		}
	}
	if m := answerTo(all, 4); m == nil || m["error"] == nil && !strings.Contains(fmt.Sprint(m), string(api.CodeValidation)) {
		t.Errorf("a list of arguments: %v", m)
	}
	if m := answerTo(all, 9); m == nil || !strings.Contains(fmt.Sprint(m), string(api.CodeValidation)) {
		t.Errorf("an argument twice: %v", m)
	}
	if m := answerTo(all, 8); m == nil || m["result"] == nil {
		t.Errorf("no arguments: %v", m)
	}
}

// TestManyCalls checks that all concurrent calls are answered, even if the input has ended.
func TestManyCalls(t *testing.T) {
	var in strings.Builder
	in.WriteString(hello)
	const n = 1000
	for i := range n {
		fmt.Fprintf(
			&in,
			"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"list-scf-domains\",\"arguments\":{\"limit\":1}}}\n",
			i+10,
		)
	}
	all := sendLines(t, Options{Client: newLocalClient(t)}, strings.NewReader(in.String()))
	fine := 0
	for i := range n {
		m := answerTo(all, float64(i+10))
		if m == nil || m["result"] == nil {
			t.Fatalf("call %d is answered with %v", i, m)
		}
		if r := m["result"].(map[string]any); r["isError"] == nil {
			fine++
		} else if !strings.Contains(fmt.Sprint(r), string(api.CodeRateLimit)) {
			t.Fatalf("call %d: %v", i, r)
		}
	}
	if fine < maxConcurrentCalls {
		t.Errorf("only %d were done", fine)
	}
}

func FuzzMessage(f *testing.F) {
	for line := range strings.Lines(hello) {
		f.Add([]byte(strings.TrimSpace(line)))
	}
	f.Add([]byte(`["a\"]",{"b":[]}]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return
		}
		m, problem := parseMessage(line)
		if (m == nil) == (problem == nil) {
			t.Errorf("%q is a message and is none", line)
		}
	})
}
