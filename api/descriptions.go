package api

// descriptions maps operation IDs to longer descriptions for the API documentation. An operation that
// its summary fully describes is not listed.
var descriptions = map[string]string{
	"get-health":          "For load balancers: checks only that the service responds.",
	"get-health-detailed": "`ok` is false if any check failed.",
	"sign-in": "Sets the session cookie. Failed attempts are throttled per account and per address, and " +
		"the error doesn't reveal whether the email or the password was wrong.",
	"get-session": "Returns `UNAUTHORIZED` if there is no session.",
	"activate-organization": "The active organization is stored with the session for front ends; requests still name " +
		"the organization in the header.",
	"list-scf-controls": "With `q`, best matches come first; otherwise controls are in the source's order.",
	"get-scf-control":   "Accepts an id or a code, such as `IAC-06`.",
	"get-scf-framework": "Accepts an id or a code, such as `iso-27001-2022`. An ambiguous code is rejected, and the " +
		"error names both records.",
	"get-scf-crosswalk": "With `target`, joins the requirements of both frameworks through the controls they share.",
	"import-scf-workbook": "The workbook is imported completely or not at all; errors name the cells concerned. The " +
		"imported version becomes the active one.",
	"dry-run-scf-workbook": "Makes no changes. `diff` shows what would change.",
	"update-tenant": "Changes only the fields that are given. The settings are `require_second_person` and `no_remote_model`, each true or false; only an " +
		"owner can turn one off.",
	"invite-member": "The invitation is accepted through a single-use link.",
	"create-api-key": "The key is shown in this response only. It has the scopes it names, and never more " +
		"permissions than its creator has at the time.",
	"rotate-api-key": "The new key is shown once. The old key keeps working for `grace_seconds`.",
	"revoke-api-key": "The key stops working immediately.",
	"ban-user":       "Ends all of the user's sessions and keys immediately.",
	"create-assessment": "Without a framework, the assessment covers the catalog itself. `framework_id` names one, " +
		"`framework_ids` several; both may be used.",
	"update-assessment": "Changes the fields that are sent; `due_date: null` removes the date. Frameworks can be " +
		"changed until `framework_selected`.",
	"delete-assessment":       "Also deletes its documents, deliverables and reports. The audit chain keeps a record of it.",
	"get-assessment-status":   "`blocked_by` describes what the next transition waits for.",
	"get-assessment-timeline": "Events of all types. A `type` ending in a dot matches all types that begin with it.",
	"transition-assessment": "Only the next state can be requested. The work of the step is done first if necessary; if " +
		"it fails, the state doesn't change. Transitions to an approved state return `APPROVAL_REQUIRED` until a user has decided; `details` name the approval. " +
		"If the version was edited in the meantime, it is submitted again first, so that there is always one to decide. The response is the new status.",
	"upload-document": "One file in the part `file`, streamed. Uploading the same bytes twice creates one " +
		"document: the second request returns 200 with the first record.",
	"download-document":  "The original file, always as an attachment. Supports ranges and `If-None-Match`.",
	"reprocess-document": "Processes the file again in the background, as after an upload.",
	"list-kb-chunks":     "All passages of the organization, or of one assessment or document.",
	"search-kb": "Combines semantic and keyword search. Passages are returned best first, each with its " +
		"place in the document. The same `min_score` has the same meaning on every corpus.",
	"put-assessment-scope": "Fields that are not sent stay unchanged. A trait is true, false, or null for unknown.",
	"draft-soa":            "Creates the next version from the catalog, the scope and the evidence. Every item gives its reasons.",
	"update-soa-item":      "Editing an item of an approved version starts the next version. A regeneration keeps manual edits.",
	"edit-soa-items": "Changes all items that `where` selects, or those in `item_ids`: all of them or none. Use `dry_run` for a preview and " +
		"send its `content_sha256` with the change. Each item gets its audit record; the caller can undo the change as a whole.",
	"undo": "Undoes the caller's last change, of one item or of many, in the version in which it was made. If others have edited an item " +
		"since, they are named and nothing is undone, unless `skip_edited` is set. The deliverable's own write permission is needed too.",
	"draw-review-sample": "Lines that nobody has read: those that the draft leaves open, and a sample of the others that is proportional by " +
		"status. Repeating it enlarges the sample; if the draft has changed since, it draws a new one.",
	"get-review-sample": "`at_most_wrong` is an exact bound; it is null until the whole sample is read.",
	"submit-soa":        "Blocked by undecided items, and by out-of-scope items without a rationale. Requests an approval.",
	"approve-soa": "Equivalent to deciding the approval through `/approvals/{approvalId}/approve`. Applies " +
		"only to the current content.",
	"refresh-soa-evidence": "Searches for evidence again and keeps manual decisions.",
	"regenerate-soa":       "Creates the next version; `kept` lists the controls whose manual edits were kept.",
	"list-gaps":            "Empty if there is no gap analysis yet.",
	"create-gap":           "`control_id` is a control's code. A code missing from the catalog is accepted, with `in_catalog: false`.",
	"list-findings":        "Worst first, unless `sort` is given.",
	"approve-gap-analysis": "Equivalent to deciding the approval through `/approvals/{approvalId}/approve`.",
	"approve-maturity":     "Equivalent to deciding the approval through `/approvals/{approvalId}/approve`.",
	"approve-poam":         "Equivalent to deciding the approval through `/approvals/{approvalId}/approve`.",
	"draft-poam":           "Plans a remediation for every finding above informational, ordered by their dependencies.",
	"update-poam-item": "Approved milestones stay as they were: later dates are added to their `changes`, or the " +
		"milestones are cancelled.",
	"list-poam-items": "By priority, unless `sort` is given.",
	"create-report":   "If any source deliverable isn't approved, every page of the report is marked as a draft.",
	"generate-report": "Without a body, generates the full report as HTML.",
	"render-report":   "An HTML page served with a policy that blocks all scripts.",
	"lint-report-layout": "Lists each unknown placeholder with its location and a suggestion. A file that is not a document, or " +
		"that would run or load something when opened, is rejected.",
	"get-example-report-layout": "A Word document or a presentation that uses everything a layout can contain.",
	"verify-report": "If its sources are unchanged, the report is generated again and compared byte for byte. A " +
		"file that isn't one of the organization's reports returns `NOT_FOUND`.",
	"put-branding": "Replaces all settings; omitted ones are reset to the default. The accent must have a " +
		"contrast of at least 4.5:1 on white. Existing reports keep their appearance.",
	"get-executive-summary": "`draft` is true while any of its sources isn't approved.",
	"approve": "Requires a user's decision. A key can approve only if `approval:decide` is among its " +
		"scopes; agents and workflows never can. An approval can be decided only once.",
	"list-corrections": "Includes those that follow from lines that people confirmed or set to not evidenced.",
	"add-correction": "Records what one passage shows about one requirement of a control, replacing any earlier decision on it. Later drafts " +
		"apply it to the same passage and, marked as such, to near-identical ones, in every assessment of the organization. " +
		"It is never exported or synced.",
	"get-correction-agreement": "Reads the corrected passages again by the rules, and compares the stored readings of other readers.",
	"add-comment": "Comments on the newest version of a deliverable (`gate`), an item of it (`item`), an " +
		"approval (`approval_id`), or another comment (`reply_to`). Submitted and approved content doesn't change, and " +
		"comments can't be changed or deleted.",
	"create-delegation": "Between two users of one organization: `delegate_id` is a member whose role doesn't allow " +
		"decisions. It ends at `expires_at` (at most 366 days), when it is revoked, or permanently when you lose the right to " +
		"decide. Decisions made under it name it. Keys, agents and workflows can neither create nor use one.",
	"revoke-delegation": "Decisions made under it remain valid. The record is kept with the status revoked.",
	"reject":            "The assessment returns to its drafted state; the reason is for whoever fixes it.",
	"diff-artifact":     "Differences by control and field, each also as a sentence; for text reports, the lines that differ.",
	"export-assessment": "A zip with every version, document, report and decision, the organization's audit chain, " +
		"and a signed manifest of hashes. `service verify` checks it without this service.",
	"verify-audit": "Verifies the chain from its first record. `problem` identifies the first record that was " +
		"changed, removed, inserted or reordered.",
	"verify-data": "Reads every record and file, which takes longer for larger data folders. Only for the local user of " +
		"the data folder. `problems` lists what is missing, altered or could not be read.",
	"get-audit-head":           "Store it elsewhere: it proves that the chain up to this record hasn't changed.",
	"export-audit":             "Oldest first, one JSON object per line. Without filters, exports the whole chain.",
	"get-artifact-version":     "`record_id` is the id of the corresponding deliverable version.",
	"start-lifecycle-workflow": "Takes the assessment through its states and waits at each gate. One run at a time per assessment.",
	"start-workflow": "`full_assessment` runs the whole lifecycle, `ingest` processes uploads, `gap_refresh` " +
		"checks new evidence and redrafts the gaps, `report` generates the reports. One run of each type at a time per assessment.",
	"watch-workflow": "Server-sent events: `progress` carries the run's state after each change; `end` comes " +
		"last, when the run waits for users or has ended. With `Last-Event-ID`, only newer events are sent.",
	"cancel-workflow": "Completed steps are kept; the current step is aborted.",
	"resume-workflow": "Resumes a failed run at the failed step and rechecks a waiting run now. Cancelled and " +
		"completed runs cannot be resumed.",
	"signal-workflow":      "A waiting run checks again whether it can continue; a signal never replaces a user's decision.",
	"start-agent-run":      "`agent_id` is accepted with or without the product name as prefix, with hyphens or underscores.",
	"get-agent-run-output": "The output is a draft; each claim cites passages or is marked as the agent's own inference.",
	"evaluate-evidence":    "The judgment is based only on the request.",
	"create-integration": "`config` and `secrets` depend on `type`: an entry the type doesn't support is rejected, " +
		"and the error suggests the closest match. If `events` is omitted, the integration receives every event its type " +
		"supports. An organization can have one enabled `smtp` integration.",
	"update-integration": "Omitted fields and secrets stay unchanged; `null` removes an entry of `config`. If the " +
		"host of an address changes, the secrets must be sent again.",
	"delete-integration": "Existing issues and files in the other tool are kept.",
	"test-integration": "Signs in; sends a test message to a chat or endpoint, or writes and deletes a test file " +
		"in a bucket. Times out after 20 seconds. Also works while the integration is disabled.",
	"sync-integration": "For jira, github and servicenow. Items of approved plans get an issue; closing, reopening " +
		"and due dates sync both ways. Items changed on both sides are left unchanged and marked `conflict`.",
	"resolve-issue-link": "The other side is updated immediately.",
	"get-secret-key":     "The response never contains the key itself.",
	"rotate-secret-key": "Re-encrypts the secrets of all webhooks and integrations with a new key. Old keys are " +
		"kept until they are deleted. If the key comes from the environment, change it there first; this then re-encrypts " +
		"everything with the first key of `NEW,OLD`.",
	"create-webhook": "If `events` is omitted, all events are sent. The secret signs every delivery according to " +
		"the Standard Webhooks specification and is shown once.",
	"rotate-webhook":          "For one day, deliveries carry a signature with each of the two secrets.",
	"test-webhook":            "Sends one event of type `webhook.test`, also to a disabled webhook, without retries.",
	"list-webhook-deliveries": "Includes every attempt and its response. Failed deliveries are retried for about a day.",
	"send-email": "Queued and sent to each address separately; retried for about a day. `variables` are for " +
		"the template. Returns 409 if the service has no mail server.",
	"get-email": "`sent` means that the mail server accepted the email; it doesn't show whether it was read or bounced later.",
	"put-email-template": "Supports only `{{variable}}` and `{{if variable}} … {{else}} … {{end}}`. In HTML, " +
		"values are escaped according to context. A template with unknown variables is rejected.",
	"preview-email-template": "Nothing is sent or saved. Without a body, previews the current template with sample values.",
	"put-email-preferences": "Applies to the calling user in all their organizations. Invitations and emails sent " +
		"manually are always delivered.",
	"create-alert-rule": "Checked every 30 seconds. A state change is reported once, after it has lasted `window_seconds`.",
	"update-alert-rule": "Changing the metric, operator or threshold resets the state to ok.",
	"list-audit-events": "A chain: each event carries the hash of the previous one. An `action` ending in a dot " +
		"matches all actions that begin with it.",
}
