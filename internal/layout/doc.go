// Package layout contains tests of the structure described in ARCHITECTURE.md: which package may import which, where
// a library may be used, package names and comments, and the maximum length of files. They also check that
// docs/dependencies.md describes every module that the program is built from.
//
// The tests read the source as text, so that build tags hide nothing from them.
package layout
