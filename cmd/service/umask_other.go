//go:build !unix

package main

// umask does nothing on this system, where the data folder's permissions protect the socket.
func umask(int) int { return 0 }
