// Package officelayout fills in a user's own Word document or PowerPoint presentation with the data of a report.
//
// A layout is an ordinary document with placeholders in double braces:
//
//	{{client.name}}                          a value
//	{{due_date | date}}                      a value through a filter
//	{{#each risks}} … {{else}} … {{/each}}   a loop over text, paragraphs or table rows
//	{{#if draft}} … {{else}} … {{/if}}       a condition
//	{{image charts.heat_map}}                a picture; also as the alternative text of a picture in the layout
//	{{#slide each risks}}                    in a presentation: one slide for each risk
//
// Everything else in the file stays byte for byte: styles, headers, footers, masters, numbering. A layout can't run
// code, read files or use the network. Values are always escaped: they never become markup, placeholders or fields.
//
//	package.go   the file: reading it within limits, refusing what could run or load something, writing it
//	xml.go       a part as a tree that remembers its bytes
//	place.go     where in the document something is, in words
//	tags.go      placeholders, also those that Word has split over several runs
//	blocks.go    loops and conditions: from pairs of placeholders to the paragraphs, rows or texts between them
//	schema.go    the fields that placeholders can name, by their types
//	expression.go, filter.go  values, comparisons and filters
//	compile.go   from the tree to a program
//	execute.go   running the program within limits
//	picture.go   pictures
//	slides.go    repeated and omitted slides
package officelayout
