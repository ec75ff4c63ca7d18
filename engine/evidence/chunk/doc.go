// Package chunk splits a parsed document into passages that can be found and quoted: each follows
// the headings and sentences of the document, knows its heading path and locator, and never splits
// a table row or mixes two top sections.
//
// The same document always gives the same chunks, and a change in one top section leaves the chunks
// of the others unchanged, including their hashes: no state is carried from one to the next. The
// package reads no files and embeds nothing.
package chunk
