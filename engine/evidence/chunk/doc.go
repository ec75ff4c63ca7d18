// Package chunk parts a document that was read into passages that can be found and
// quoted: each follows the headings and sentences of the document, knows its heading
// path and place, and never cuts a table row or mixes two top sections.
//
// The same document gives the same chunks, whatever was read before, and a change in one
// top section leaves the chunks of the others as they were, hash and all: nothing is
// carried from one to the next. The package reads no files and embeds nothing.
package chunk
