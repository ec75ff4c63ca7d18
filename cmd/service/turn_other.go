//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

// takeTurn lets everybody try at once.
func takeTurn(string) (giveBack func(), ok bool) { return func() {}, true }
