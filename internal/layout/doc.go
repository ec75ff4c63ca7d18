// Package layout contains tests of the structure described in ARCHITECTURE.md: which package may
// import which, where a library may be used, package names and comments, the maximum length of
// files, and that docs/dependencies.md describes every module the program is built from.
//
// The tests read the source as text, so build tags hide nothing from them.
package layout
