package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

func (a *app) documentCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "doc", Aliases: []string{"document"}, Short: "Manage documents, which are the evidence of an assessment",
		Long: `Documents are the evidence of an assessment. In the background, they are split into
passages, each with its location. Specify a document by ID or file name.`,
		Example: "  service doc add policies/*.docx --category policy\n  service doc list\n" +
			"  service doc chunks access-policy.docx\n  service doc download access-policy.docx --out copy.docx",
	}, a.docAdd(), a.docSync(), a.docList(), a.docShow(), a.docStatus(), a.docChunks(), a.docDownload(),
		a.docDelete(), a.docReprocess())
}

var documentStates = []api.DocumentState{api.DocumentUploaded, api.DocumentProcessing, api.DocumentIngested, api.DocumentFailed}

// findDocument returns the document whose ID or unique file name is ref.
func (a *app) findDocument(ctx context.Context, ref string) (*api.Document, error) {
	if uuidPattern.MatchString(ref) {
		return call(ctx, a, api.GetDocument, &api.GetDocumentInput{DocumentInput: api.DocumentInput{DocumentID: ref}})
	}
	one, err := a.currentAssessment(ctx)
	if err != nil {
		return nil, err
	}
	l, err := fetchAll(
		ctx,
		a,
		api.ListDocuments,
		&api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Q: ref},
	)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(l.Data, func(d api.Document) bool { return !strings.EqualFold(d.Filename, ref) })
	switch len(found) {
	case 0:
		return nil, withHint(
			runtimeError("there is no document with the ID or file name %q in %q", ref, one.Name),
			"`%s` lists all documents",
			a.suggestedCommandLine("doc list"),
		)
	case 1:
		return &found[0], nil
	}
	ids := make([]string, len(found))
	for i, d := range found {
		ids[i] = d.ID
	}
	return nil, withHint(
		usageError("%d documents have the file name %q:\n  - %s", len(found), ref, strings.Join(ids, "\n  - ")),
		"specify the document by its ID",
	)
}

func (a *app) docAdd() *cobra.Command {
	var category string
	var noWait bool
	cmd := &cobra.Command{
		Use: "add FILE|DIR…", Short: "Add documents and wait until they have been processed",
		Long: `Adds files, and all files in folders, to the assessment. Files whose content was already
added are skipped. Files that can't be added are listed; all other files are added.`,
		Example: "  service doc add access-policy.docx\n  service doc add ./more --category record --no-wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			files, skipped, err := a.collectFiles(ctx, args)
			if err != nil {
				return err
			}
			one, err := a.currentAssessment(ctx)
			if err != nil {
				return err
			}
			finished := a.rememberImport(one.ID, args)
			got, err := a.uploadNewFiles(ctx, one.ID, files, category)
			if err != nil {
				return err
			}
			finished()
			if !noWait && len(got.Added) > 0 {
				all, err := a.waitUntilDocumentsRead(ctx, one.ID)
				if err != nil {
					return err
				}
				for i, d := range got.Added {
					if at := slices.IndexFunc(all, func(x api.Document) bool { return x.ID == d.ID }); at >= 0 {
						got.Added[i] = all[at]
					}
				}
			}
			l := &api.List[api.Document]{Data: got.Added, Pagination: api.Pagination{Total: len(got.Added), Limit: len(got.Added)}}
			if l.Data == nil {
				l.Data = []api.Document{}
			}
			if err := a.out.Print(l, func(p *print.Page) {
				renderDocumentTable(p, l.Data)
				a.renderLateDocuments(p, one.State, len(l.Data))
			}); err != nil {
				return err
			}
			return a.reportUnreadFiles(append(skipped, got.Skipped...), got.Added)
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "policy, procedure, record, register, report, contract, … (default: detected)")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "don't wait until the documents have been processed")
	return cmd
}

func renderDocumentTable(p *print.Page, docs []api.Document) {
	columns := []print.Column{
		column("file"), optional(column("category")), optional(number("size")), optional(number("passages")), column("status"), idColumn(),
	}
	showUnread := slices.ContainsFunc(docs, func(d api.Document) bool { return len(d.NotRead) > 0 })
	if showUnread {
		columns = slices.Insert(columns, len(columns)-1, optional(column("not read")))
	}
	renderTable(p, docs, columns, func(d api.Document) []string {
		status := prose.Humanize(d.Status)
		if d.Error != nil {
			status += ": " + *d.Error
		} else if len(d.Warnings) > 0 {
			status += ", " + prose.Count(len(d.Warnings), "warning", "warnings")
		}
		if d.Outdated {
			status += ", outdated"
		}
		row := []string{d.Filename, d.Category, print.FormatSize(d.SizeBytes), fmt.Sprint(d.ChunkCount), status, d.ID}
		if showUnread {
			row = slices.Insert(row, len(row)-1, api.DescribeNotRead(d.NotRead))
		}
		return row
	})
}

func (a *app) docList() *cobra.Command {
	var in api.DocumentsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List the documents",
		Long:    "Lists the documents of the assessment, with the error for any that could not be read.",
		Example: "  service doc list\n  service doc list --status failed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			one, err := a.currentAssessment(cmd.Context())
			if err != nil {
				return err
			}
			in.AssessmentID = one.ID
			all, err := fetchList(cmd.Context(), a, api.ListDocuments, &in, l)
			if err != nil {
				return err
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			return a.out.Print(all, func(p *print.Page) {
				renderDocumentTable(p, all.Data)
				if hasGivenFilterFlags(cmd) {
					renderTextIfEmpty(p, len(all.Data), "No documents match; `%s` lists all documents.", a.suggestedCommandLine("doc list"))
					return
				}
				renderTextIfEmpty(p, len(all.Data), "No documents yet. Add one with `%s`.", a.suggestedCommandLine("doc add FILE"))
			})
		},
	}
	f := cmd.Flags()
	addChoiceFlag(f, &in.Status, "status", documentStates, "show only documents with this status: uploaded, processing, ingested or failed")
	f.StringVar(&in.Category, "category", "", "show only documents of this category")
	f.StringVar(&in.Q, "query", "", "show only documents with this text in the file name or title")
	f.StringVar(&in.Sort, "sort", "", "sort order, such as category,-size_bytes")
	l.addFlags(cmd, 0)
	return cmd
}

func (a *app) docShow() *cobra.Command {
	return &cobra.Command{
		Use: "show DOCUMENT", Short: "Show a document's details",
		Long: "Shows a document's metadata and any warnings from reading it.", Example: "  service doc show access-policy.docx",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.findDocument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.out.Print(d, func(p *print.Page) { renderDocument(p, d) })
		},
	}
}

func renderDocument(p *print.Page, d *api.Document) {
	pages := ""
	if d.PageCount > 0 {
		pages = fmt.Sprint(d.PageCount)
	}
	outdated := ""
	if d.Outdated {
		outdated = fmt.Sprintf(", outdated; to process it with this version of the program, run `service doc reprocess %s`",
			shellQuote(d.Filename))
	}
	p.Title("%s", d.Filename)
	p.Fields(
		field("path", d.Path),
		field("title", d.Title),
		field("category", d.Category),
		field("version", d.DocVersion),
		field("effective", string(orZero(d.EffectiveDate))),
		field("owner", d.Owner),
		field("approved by", d.ApprovedBy),
		field("language", d.Language),
		field("pages", pages),
		field("size", print.FormatSize(d.SizeBytes)),
		field("type", d.MIMEType),
		field("status", prose.Humanize(d.Status)+outdated),
		field("error", orZero(d.Error)),
		field("warnings", strings.Join(d.Warnings, "\n")),
		field("not read", api.DescribeNotRead(d.NotRead)),
		field("passages", fmt.Sprint(d.ChunkCount)),
		field("added", joinNonEmpty(print.FormatTime(d.CreatedAt), d.UploadedBy)),
		field("sha256", d.SHA256),
		field("id", d.ID),
	)
}

func (a *app) docStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status DOCUMENT", Short: "Show a document's processing status",
		Long: "Shows a document's processing stage: parse, chunk, embed, index, done.", Example: "  service doc status access-policy.docx",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.findDocument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetDocumentStatus,
				&api.GetDocumentInput{DocumentInput: api.DocumentInput{DocumentID: d.ID}},
				func(p *print.Page, s *api.DocumentProgress) {
					p.Fields(
						field("file", d.Filename),
						field("status", prose.Humanize(s.Status)),
						field("stage", fmt.Sprintf("%s (%d%%)", s.Stage, s.Progress)),
						field("passages", fmt.Sprint(s.ChunkCount)),
						field("error", orZero(s.Error)),
					)
				},
			)
		},
	}
}

func (a *app) docChunks() *cobra.Command {
	var l listFlags
	cmd := &cobra.Command{
		Use: "chunks DOCUMENT", Aliases: []string{"passages"}, Short: "Show the passages of a document",
		Long:    "Shows a document's passages in order, each with its location.",
		Example: "  service doc chunks access-policy.docx\n  service doc chunks risk-register.xlsx --limit 5",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.findDocument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			all, err := fetchList(
				cmd.Context(),
				a,
				api.ListDocumentChunks,
				&api.DocumentChunksInput{DocumentInput: api.DocumentInput{DocumentID: d.ID}},
				l,
			)
			if err != nil {
				return err
			}
			defer a.printMoreResultsNotice(len(all.Data), all.Pagination)
			duplicates, err := a.describeDuplicatedChunks(cmd.Context(), d.AssessmentID, all.Data)
			if err != nil {
				return err
			}
			return a.out.Print(all, func(p *print.Page) {
				for _, c := range all.Data {
					p.Title("%d. %s", c.Index+1, print.FormatLocation(c.HeadingPath, c.Locator))
					if c.DuplicateOf != nil {
						p.IndentedText(2, "(near duplicate of %s)", duplicates[*c.DuplicateOf])
					}
					p.IndentedText(2, "%s", c.Text)
				}
				renderTextIfEmpty(
					p,
					len(all.Data),
					"The document has no passages; `%s` shows the reason.",
					a.suggestedCommandLine("doc show "+shellQuote(args[0])),
				)
			})
		},
	}
	l.addFlags(cmd, 0)
	return cmd
}

// describeDuplicatedChunks finds the passages that the given chunks nearly duplicate. It returns a map from the ID of
// each such passage to its document and position.
func (a *app) describeDuplicatedChunks(ctx context.Context, assessment string, chunks []api.Chunk) (map[string]string, error) {
	out := map[string]string{}
	var names map[string]string
	for _, c := range chunks {
		if c.DuplicateOf == nil || out[*c.DuplicateOf] != "" {
			continue
		}
		if names == nil {
			docs, err := a.listDocuments(ctx, assessment)
			if err != nil {
				return nil, err
			}
			names = map[string]string{}
			for _, d := range docs {
				names[d.ID] = d.Filename
			}
		}
		other, err := call(ctx, a, api.GetChunk, &api.ChunkInput{ChunkID: *c.DuplicateOf})
		switch {
		case api.IsCode(err, api.CodeNotFound):
			out[*c.DuplicateOf] = "another document" // deleted in the meantime
		case err != nil:
			return nil, err
		default:
			out[*c.DuplicateOf] = names[other.DocumentID] + ", passage " + fmt.Sprint(other.Index+1)
		}
	}
	return out, nil
}

func (a *app) docDownload() *cobra.Command {
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "download DOCUMENT", Short: "Save the original file",
		Long:    "Saves the original file. Existing files are only overwritten with --force.",
		Example: "  service doc download access-policy.docx --out copy.docx",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.findDocument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			f, err := call(cmd.Context(), a, api.DownloadDocument, &api.DocumentInput{DocumentID: d.ID})
			if err != nil {
				return err
			}
			return a.saveDownload(f, downloadPath(out, d.Filename, d.ID), force)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write; - for stdout (default: the document's file name)")
	addForceFlag(cmd, &force)
	return cmd
}

func (a *app) docDelete() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use:   "delete DOCUMENT",
		Short: "Delete a document and its passages",

		Long: `Deletes a document and its passages, after listing what depends on the document: items of the
Statement of Applicability that quote it, and corrections of its passages. Existing versions of
deliverables keep their quotes.`,
		Example: "  service doc delete old-policy.docx --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.findDocument(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			uses, err := call(cmd.Context(), a, api.GetDocumentUses, &api.DocumentInput{DocumentID: d.ID})
			if err != nil && !api.IsCode(err, api.CodeForbidden) { // a key may only delete
				return err
			}
			if err == nil {
				for _, note := range uses.Notes {
					a.printNotice("%s", note)
				}
			}
			if err := a.confirm(sure, "delete the document "+d.Filename); err != nil {
				return err
			}
			if _, err := call(cmd.Context(), a, api.DeleteDocument, &api.DocumentInput{DocumentID: d.ID}); err != nil {
				return err
			}
			a.progress.Done("deleted the document %s", d.Filename)
			return nil
		},
	}
	addYesFlag(cmd, &sure)
	return cmd
}

func (a *app) docReprocess() *cobra.Command {
	var all, outdated bool
	cmd := &cobra.Command{
		Use: "reprocess [DOCUMENT]", Short: "Process one document, or all documents, again",
		Long: `Processes one document again, all documents of the assessment (--all), or only documents that
were read by an older version of the program and that this version would read differently
(--outdated). The next draft uses the result; items that you decided keep their quotes.`,
		Example: "  service doc reprocess scan.pdf\n  service doc reprocess --outdated",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if (all || outdated) == (len(args) == 1) || all && outdated {
				return usageError("specify a document, --all for all documents, or --outdated for documents that an older version of the program read")
			}
			if all || outdated {
				one, err := a.currentAssessment(ctx)
				if err != nil {
					return err
				}
				return a.reprocessDocuments(ctx, one.ID, outdated)
			}
			d, err := a.findDocument(ctx, args[0])
			if err != nil {
				return err
			}
			if d, err = call(ctx, a, api.ReprocessDocument, &api.DocumentInput{DocumentID: d.ID}); err != nil {
				return err
			}
			read, err := a.waitUntilDocumentsRead(ctx, d.AssessmentID)
			if err != nil {
				return err
			}
			if at := slices.IndexFunc(read, func(x api.Document) bool { return x.ID == d.ID }); at >= 0 {
				d = &read[at]
			}
			return a.out.Print(d, func(p *print.Page) { renderDocument(p, d) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "process all documents of the assessment again")
	cmd.Flags().BoolVar(&outdated, "outdated", false, "process again the documents that an older version of the program read")
	return cmd
}

// reprocessDocuments reads all documents of an assessment again, or only outdated ones. It returns an error if any of
// them still cannot be read.
func (a *app) reprocessDocuments(ctx context.Context, assessment string, onlyOutdated bool) error {
	docs, err := a.listDocuments(ctx, assessment)
	if err != nil {
		return err
	}
	selected := map[string]bool{}
	for _, d := range docs {
		if onlyOutdated && !d.Outdated {
			continue
		}
		selected[d.ID] = true
		if _, err := call(ctx, a, api.ReprocessDocument, &api.DocumentInput{DocumentID: d.ID}); err != nil {
			return err
		}
	}
	if docs, err = a.waitUntilDocumentsRead(ctx, assessment); err != nil {
		return err
	}
	docs = slices.DeleteFunc(docs, func(d api.Document) bool { return !selected[d.ID] })
	if err := a.out.Print(docs, func(p *print.Page) {
		renderDocumentTable(p, docs)
		renderTextIfEmpty(p, len(docs), "No documents need to be processed again.")
	}); err != nil {
		return err
	}
	failed := slices.DeleteFunc(slices.Clone(docs), func(d api.Document) bool { return d.Status != api.DocumentFailed })
	if len(failed) > 0 {
		return withHint(
			runtimeError("%s could not be read again", prose.Count(len(failed), "document", "documents")),
			"`%s` lists the failed documents", a.suggestedCommandLine("doc list --status failed"),
		)
	}
	return nil
}

// reportUnreadFiles prints the reason for each skipped file and returns an error if any file was skipped, or if any of
// the added documents could not be read.
func (a *app) reportUnreadFiles(skipped []skippedFile, added []api.Document) error {
	for _, s := range skipped {
		a.progress.Notice("skipped: %s: %s", s.Name, s.Reason)
	}
	failed := 0
	for _, d := range added {
		if d.Status == api.DocumentFailed {
			failed++
		}
	}
	if len(skipped)+failed == 0 {
		return nil
	}
	message := prose.Count(len(skipped)+failed, "file", "files") + " could not be read"
	switch len(added) - failed {
	case 0:
	case 1:
		message += "; the other file was added"
	default:
		message += "; all other files were added"
	}
	err := runtimeError("%s", message)
	if failed == 0 {
		return err
	}
	return withHint(err, "`%s` lists the failed documents", a.suggestedCommandLine("doc list --status failed"))
}
