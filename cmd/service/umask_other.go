//go:build !unix

package main

// umask does nothing if there is none; the data folder's own rights protect the socket.
func umask(int) int { return 0 }
