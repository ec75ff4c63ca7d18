package parse

// readerVersions holds the version of each reader. A change in what a reader reads requires a new version, so that
// documents read earlier are marked as outdated. TestReaderVersions fails if a version is missing, except for changes
// in how passages are split.
var readerVersions = map[string]int{
	"pdf": 4, "docx": 6, "xlsx": 6, "pptx": 4, "odf": 6, "rtf": 5, "mail": 5, "zip": 1, "picture": 1,
	"html": 6, "xml": 2, "json": 1, "csv": 3, "markdown": 4, "rst": 1, "yaml": 1, "plain": 3,
	readerOfFacts: 6, readerOfPassages: 1, readerOfUnknown: 3,
}

// Readers that don't belong to a format.
const (
	readerOfFacts    = "facts"    // title, owner, dates and so on
	readerOfPassages = "passages" // chunk.Split
	// readerOfUnknown represents format detection, and is recorded for files in unknown formats. Its version must
	// change when a format is added.
	readerOfUnknown = "unknown"
	// readerOfAny is recorded for documents that couldn't be read. Its version is the sum of all
	// versions, because any change may make the document readable.
	readerOfAny = "any"
)

// ReadersOfFailedDocument returns the readers to record for a document that couldn't be read.
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

// IsCurrent reports whether the readers of a document still have the versions that read it. It
// returns false for documents that were read before versions were recorded.
func IsCurrent(readers map[string]int) bool {
	for name, version := range readers {
		if version != readerVersion(name) {
			return false
		}
	}
	return len(readers) > 0
}
