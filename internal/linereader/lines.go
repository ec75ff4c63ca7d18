// Package linereader reads a stream line by line and limits the memory used for a line.
package linereader

import (
	"bufio"
	"bytes"
	"errors"
)

// ReadLine reads a line and returns it without surrounding white space. If the line is longer than
// limit bytes, line is nil and tooLong is true. The error, io.EOF at the end, is returned along
// with the last line.
func ReadLine(in *bufio.Reader, limit int) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !tooLong && len(line)+len(part) > limit {
			line, tooLong = nil, true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), tooLong, err
		}
	}
}
