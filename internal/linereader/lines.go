// Package lines reads a stream line by line, however long somebody made one.
package linereader

import (
	"bufio"
	"bytes"
	"errors"
)

// Next reads a line, without its end and blanks around it. Of one that is longer than most
// nothing is kept, and long says so. The error, io.EOF at the end, comes with the last line.
func Next(in *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if !long && len(line)+len(part) > most {
			line, long = nil, true
		}
		if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), long, err
		}
	}
}
