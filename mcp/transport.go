package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scf-service/service/internal/linereader"
)

// transport exchanges messages, one per line. Unlike the SDK's transport, which ends the session at the first
// malformed line, it responds to such a line with an error and continues. It also limits the size of the input.
type transport struct {
	in  io.Reader
	out io.Writer
}

const (
	// maxLine is the maximum size of a message; the engine accepts bodies of 1 MiB.
	maxLine = 4 << 20
	// maxNesting is the maximum nesting depth of a message.
	maxNesting = 64
	// maxUnanswered is the number of unanswered requests after which reading pauses.
	maxUnanswered = 256
)

// Connect starts reading messages.
func (t transport) Connect(context.Context) (sdk.Connection, error) {
	l := &connection{
		out:        t.out,
		incoming:   make(chan jsonrpc.Message),
		ended:      make(chan struct{}),
		closed:     make(chan struct{}),
		unanswered: map[jsonrpc.ID]bool{},
		answered:   make(chan struct{}, 1),
	}
	go l.readLoop(bufio.NewReaderSize(t.in, 64<<10))
	return l, nil
}

// connection is a connection that uses an input and an output stream.
type connection struct {
	incoming chan jsonrpc.Message
	// ended is closed after the last message; err is the reason.
	ended chan struct{}
	err   error

	once   sync.Once
	closed chan struct{}

	mu  sync.Mutex
	out io.Writer
	// unanswered holds the pending requests. They are answered even after the input has ended.
	unanswered map[jsonrpc.ID]bool
	// answered is signaled when one of them is answered.
	answered chan struct{}
}

func (l *connection) SessionID() string { return "" }

func (l *connection) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// readLoop reads lines until the input ends. It queues messages and answers malformed lines with an
// error.
func (l *connection) readLoop(in *bufio.Reader) {
	defer close(l.ended)
	for {
		line, long, err := linereader.ReadLine(in, maxLine)
		var m jsonrpc.Message
		var problem *jsonrpc.Error
		switch {
		case long:
			problem = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the line is longer than %d bytes", maxLine)}
		case len(line) > 0:
			m, problem = parseMessage(line)
		}
		if problem != nil {
			if failed := l.writeErrorWithoutID(problem); failed != nil {
				l.err = failed
				return
			}
		}
		if m != nil {
			select {
			case l.incoming <- m:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			l.err = err
			return
		}
	}
}

// parseMessage parses a line, or returns an error that describes what is wrong with it.
func parseMessage(line []byte) (message jsonrpc.Message, problem *jsonrpc.Error) {
	switch {
	case nestingDepth(line) > maxNesting:
		return nil, &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("the message is nested more than %d levels deep", maxNesting),
		}
	case !json.Valid(line):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not valid JSON"}
	case line[0] == '[':
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not supported; send one message per line"}
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a JSON-RPC 2.0 message"}
	}
	return m, nil
}

// nestingDepth returns the maximum nesting depth of brackets outside strings.
func nestingDepth(b []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// writeErrorWithoutID sends an error without an ID, in response to a line from which no reliable ID could be read.
func (l *connection) writeErrorWithoutID(e *jsonrpc.Error) error {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": e})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(b, '\n'))
	return err
}

// Read returns the next message, waiting while too many requests are pending. It reports the end of
// the input only after all requests are answered, because the SDK then drops pending ones.
func (l *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		incoming, ended := l.incoming, l.ended
		switch left := l.unansweredCount(); {
		case left >= maxUnanswered:
			incoming, ended = nil, nil
		case left > 0:
			ended = nil
		}
		select {
		case m := <-incoming:
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				l.mu.Lock()
				l.unanswered[r.ID] = true
				l.mu.Unlock()
			}
			return m, nil
		case <-ended:
			return nil, l.err
		case <-l.answered:
		case <-l.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *connection) unansweredCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unanswered)
}

// Write sends a message.
func (l *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(b, '\n'))
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(l.unanswered, r.ID)
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return err
}
