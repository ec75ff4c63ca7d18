//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

// acquireOpenLock lets everybody try at once.
func acquireOpenLock(string) (release func(), ok bool) { return func() {}, true }
