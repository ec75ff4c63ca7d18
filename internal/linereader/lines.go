// Package linereader reads a stream line by line, however long somebody made one.
package linereader

import (
	"bufio"
	"bytes"
	"errors"
)

// ReadLine reads a line, without its end and blanks around it. Of one that is longer than most
// nothing is kept, and long says so. The error, io.EOF at the end, comes with the last line.
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
