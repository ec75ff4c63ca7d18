// Package layout is only tests: they hold the shape that ARCHITECTURE.md draws.
// Which room may import which, where a library may be used, how packages are
// named and opened, how long a file may grow, and that docs/dependencies.md
// speaks of every module the program is built from.
//
// It reads the source as text, so build tags hide nothing from it.
package layout
