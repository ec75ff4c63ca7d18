package parse

// readerVersions holds the version of each reader. Whoever changes what a reader reads increments its version, so
// that documents read before are marked as outdated. TestReaderVersions fails otherwise, except for passages.
var readerVersions = map[string]int{
	"pdf": 3, "docx": 5, "xlsx": 4, "pptx": 3, "odf": 5, "rtf": 4, "mail": 4, "zip": 1, "picture": 1,
	"html": 5, "xml": 1, "json": 1, "csv": 2, "markdown": 3, "rst": 1, "yaml": 1, "plain": 2,
	readerOfFacts: 5, readerOfPassages: 1, readerOfUnknown: 3,
}

// The readers that belong to no format.
const (
	readerOfFacts    = "facts"    // title, owner, dates and so on
	readerOfPassages = "passages" // chunk.Split
	// readerOfUnknown is the recognition of formats, recorded with files that no reader was found for. Its version
	// changes when a format is added.
	readerOfUnknown = "unknown"
	// readerOfAny is recorded for documents that couldn't be read. Its version is the sum of all others, because any
	// change may make a document readable.
	readerOfAny = "any"
)

// ReadersOfFailedDocument returns what is recorded as the readers of a document that couldn't be read.
func ReadersOfFailedDocument() map[string]int {
	return map[string]int{readerOfAny: readerVersion(readerOfAny)}
}

func readerVersion(name string) int {
	if name != readerOfAny {
		return readerVersions[name]
	}
	sum := 0
	for _, v := range readerVersions {
		sum += v
	}
	return sum
}

// IsCurrent reports whether the readers of a document still have the versions with which they read it. Documents
// read before versions were recorded have no readers.
func IsCurrent(readers map[string]int) bool {
	for name, version := range readers {
		if version != readerVersion(name) {
			return false
		}
	}
	return len(readers) > 0
}
