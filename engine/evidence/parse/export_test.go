package parse

import (
	"maps"
	"slices"
)

// ReaderNames returns the names of all readers.
func ReaderNames() []string { return slices.Sorted(maps.Keys(readerVersions)) }
