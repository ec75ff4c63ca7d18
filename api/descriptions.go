package api

// descriptions maps operation IDs to longer descriptions for the API documentation. An operation that
// its summary fully describes is not listed.
var descriptions = map[string]string{
	"get-health":          "Checks only that the service responds. Intended for load balancers.",
	"get-health-detailed": "`ok` is false if any check failed.",
	"sign-in": "Sets the session cookie. Failed attempts are throttled per account and per address, and " +
		"the error doesn't reveal whether the email or the password was wrong.",
	"get-session": "Returns `UNAUTHORIZED` if there is no session.",
	"activate-organization": "Stores the active organization in the session, for use by front ends. Requests must " +
		"still specify the organization in the header.",
	"list-scf-controls": "With `q`, the best matches come first; otherwise, controls are listed in the order of the source catalog.",
	"get-scf-control":   "Accepts an id or a code, such as `IAC-06`.",
	"get-scf-framework": "Accepts an id or a code, such as `iso-27001-2022`. If a code is ambiguous, it is " +
		"rejected, and the error lists both matches.",
	"get-scf-crosswalk": "With `target`, matches the requirements of both frameworks through the controls they share.",
	"import-scf-workbook": "The workbook is imported completely or not at all; errors list the affected cells. The " +
		"imported version becomes the active one.",
	"dry-run-scf-workbook": "Makes no changes; `diff` lists the changes that the import would make.",
	"update-tenant": "Changes only the fields that are sent. The settings `require_second_person` and " +
		"`no_remote_model` can be true or false; only an owner can turn them off.",
	"invite-member": "The invitation is accepted through a single-use link.",
	"create-api-key": "The key is shown only in this response. It has the requested scopes, but never more " +
		"permissions than its creator has at the time of use.",
	"rotate-api-key": "The new key is shown once. The old key keeps working for `grace_seconds`.",
	"revoke-api-key": "The key stops working immediately.",
	"ban-user":       "Immediately ends all of the user's sessions and revokes their API keys.",
	"create-assessment": "Specify one framework with `framework_id` or several with `framework_ids`; you can also " +
		"use both. Without a framework, the assessment covers the whole catalog.",
	"update-assessment": "Changes only the fields that are sent; `due_date: null` removes the due date. Frameworks " +
		"can be changed here until the Statement of Applicability is drafted.",
	"delete-assessment":     "Also deletes the assessment's documents, deliverables and reports. The audit chain keeps a record of the deletion.",
	"get-assessment-status": "`blocked_by` lists what must be done before the next transition.",
	"get-assessment-timeline": "Returns events of all types unless `type` is given. A `type` that ends in a dot " +
		"matches every type that starts with it.",
	"transition-assessment": "Only the next state can be requested. If the step requires work, that work is done " +
		"first; if it fails, the state doesn't change. A transition to an approved state returns " +
		"`APPROVAL_REQUIRED` until a user has approved the deliverable; `details` contains the ID of the approval. " +
		"If the version was edited after it was submitted, it is first submitted again, so that there is always an " +
		"approval to decide. Returns the new status.",
	"upload-document": "Send one file in the multipart field `file`; it is streamed. Uploading the same bytes " +
		"again doesn't create a second document: the response is 200 with the existing record.",
	"download-document":  "Returns the original file, always as an attachment. Supports range requests and `If-None-Match`.",
	"reprocess-document": "Processes the file again in the background, as after an upload.",
	"list-kb-chunks":     "Lists all passages in the organization's evidence, or only those of one assessment or document.",
	"search-kb": "Combines semantic and keyword search. The best matches come first, each with its location in the " +
		"document. Scores are comparable across assessments, so the same `min_score` can be used for all of them.",
	"put-assessment-scope": "Fields that are not sent stay unchanged. Each trait can be true, false, or null (unknown).",
	"draft-soa": "Creates the next version from the catalog, the scope and the evidence. Every item " +
		"includes the reasons for its status.",
	"update-soa-item": "Editing an item of an approved version creates the next version. Manual edits are " +
		"kept when the deliverable is regenerated.",
	"edit-soa-items": "Changes the items selected by `where` or listed in `item_ids`. If one of them can't be " +
		"changed, none are. To preview a change, use `dry_run`; then send the `content_sha256` of the preview with " +
		"the actual change. Each item gets its own audit record, and the caller can undo the whole change at once.",
	"undo": "Undoes the caller's last change to one or more items, in the version in which the change was made. If " +
		"any of these items have been edited since, the error lists them and nothing is undone; set `skip_edited` " +
		"to skip them instead. The caller also needs write permission for the deliverable.",
	"draw-review-sample": "Selects items that nobody has reviewed yet: all items that the draft leaves open, plus " +
		"a sample of the other items, proportional by status. Repeating the request enlarges the sample. If the " +
		"draft has changed in the meantime, a new sample is drawn.",
	"get-review-sample": "`at_most_wrong` is an exact upper confidence limit. It is null until the whole sample has been reviewed.",
	"submit-soa": "Requests an approval. The request is rejected if any item is undecided or any " +
		"out-of-scope item has no rationale.",
	"approve-soa":          "Has the same effect as approving through `/approvals/{approvalId}/approve`. Only the current content can be approved.",
	"refresh-soa-evidence": "Searches for evidence again and keeps manual decisions.",
	"regenerate-soa":       "Creates the next version. `kept` lists the controls whose manual edits were kept.",
	"list-gaps":            "The list is empty if there is no gap analysis yet.",
	"create-gap":           "`control_id` is a control's code. A code missing from the catalog is accepted, with `in_catalog: false`.",
	"list-findings":        "The most severe findings come first unless `sort` is given.",
	"approve-gap-analysis": "Has the same effect as approving through `/approvals/{approvalId}/approve`.",
	"approve-maturity":     "Has the same effect as approving through `/approvals/{approvalId}/approve`.",
	"approve-poam":         "Has the same effect as approving through `/approvals/{approvalId}/approve`.",
	"draft-poam": "Creates a plan item for every finding that is more severe than informational. Items " +
		"are ordered by their dependencies.",
	"update-poam-item": "Approved milestones aren't overwritten: a new date is added to a milestone's `changes`, " +
		"and a milestone that is no longer needed is cancelled.",
	"list-poam-items": "Items are sorted by priority unless `sort` is given.",
	"create-report":   "If any source deliverable isn't approved, every page of the report is marked as a draft.",
	"generate-report": "Without a body, generates the full report as HTML.",
	"render-report":   "Returns an HTML page. Its Content Security Policy blocks all scripts except the report's own.",
	"lint-report-layout": "Lists each unknown placeholder with its location and a suggested correction. A file is " +
		"rejected if it isn't a document, or if opening it would run code or load external content.",
	"get-example-report-layout": "Returns a Word document or a presentation that uses every feature of report layouts.",
	"verify-report": "If the report's sources are unchanged, the report is generated again and compared byte for " +
		"byte. Returns `NOT_FOUND` for a file that isn't one of the organization's reports.",
	"put-branding": "Replaces all branding settings; omitted settings are reset to their defaults. The accent " +
		"color needs a contrast ratio of at least 4.5:1 against white. Existing reports keep their appearance.",
	"get-executive-summary": "`draft` is true as long as any source deliverable isn't approved.",
	"approve": "Requires a user's decision. An API key can approve only if it has the scope `approval:decide`; " +
		"agents and workflows can never approve. An approval can be decided only once.",
	"list-corrections": "Includes corrections derived from items that users confirmed or set to not evidenced.",
	"add-correction": "Records what a passage shows about one requirement of a control, and replaces any earlier " +
		"correction of the same passage for that requirement. Later drafts in all of the organization's " +
		"assessments apply the correction to the same passage. They also apply it to near-identical passages, and " +
		"say so. Corrections are shared outside the organization only with clones of an assessment.",
	"get-correction-agreement": "Judges the corrected passages again by the built-in rules, and compares the " +
		"results of the rules and of all other readers with the corrections.",
	"add-comment": "Adds a comment to the newest version of a deliverable (`gate`), one of its items (`item`), an " +
		"approval (`approval_id`), or another comment (`reply_to`). Comments don't change submitted or approved " +
		"content, and they can't be edited or deleted.",
	"create-delegation": "Lets another member of the organization decide on your behalf. `delegate_id` must be a " +
		"member whose own role doesn't allow decisions. The delegation ends at `expires_at` (at most 366 days " +
		"ahead), when it is revoked, or when you lose the right to decide, even if you regain it later. Decisions " +
		"made under a delegation refer to it. API keys, agents and workflows can neither create nor use " +
		"delegations.",
	"revoke-delegation": "Decisions made under the delegation remain valid. Its record is kept with the status `revoked`.",
	"reject":            "The assessment returns to its drafted state. Use the reason to explain what needs to be fixed.",
	"diff-artifact": "Lists the differences by control and field, and describes each in a sentence. For text " +
		"reports, lists the lines that differ.",
	"export-assessment": "Returns a ZIP archive of all versions, documents, reports and decisions, the " +
		"organization's audit chain, and a signed manifest of hashes. `service verify` can check the archive " +
		"without access to this server.",
	"verify-audit": "Verifies the chain from its first record. `problem` identifies the first record that was " +
		"changed, removed, inserted or reordered.",
	"verify-data": "Reads every record and file, so large data folders take longer. Only the local user of the " +
		"data folder can do this. `problems` lists records and files that are missing, altered or unreadable.",
	"get-audit-head": "Store the signed head outside this service. It can later prove that the chain up to this record hasn't changed.",
	"export-audit": "Returns one JSON object per line, starting with the oldest event. Without " +
		"filters, the whole chain is exported.",
	"get-artifact-version": "`record_id` is the id of the corresponding deliverable version.",
	"start-lifecycle-workflow": "Moves the assessment through its states and waits for approval at each gate. Each " +
		"assessment can have one such run at a time.",
	"start-workflow": "`full_assessment` runs the whole lifecycle, `ingest` processes uploads, `gap_refresh` " +
		"checks new evidence and redrafts the gaps, and `report` generates the reports. Each assessment can have " +
		"one run of each type at a time.",
	"watch-workflow": "Streams server-sent events. A `progress` event contains the run's state after each change. " +
		"The final event is `end`, sent when the run waits for users or has ended. With `Last-Event-ID`, only " +
		"newer events are sent.",
	"cancel-workflow": "Completed steps are kept; the current step is aborted.",
	"resume-workflow": "Resumes a failed run at the failed step and rechecks a waiting run now. Cancelled and " +
		"completed runs cannot be resumed.",
	"signal-workflow":      "Makes a waiting run check again whether it can continue. A signal never replaces a user's decision.",
	"start-agent-run":      "`agent_id` can be given with or without the product name as a prefix, and with hyphens or underscores.",
	"get-agent-run-output": "The output is a draft; each claim cites passages or is marked as the agent's own inference.",
	"evaluate-evidence":    "The evaluation is based only on the contents of the request.",
	"create-integration": "The entries of `config` and `secrets` depend on `type`. If the type doesn't support an " +
		"entry, the request is rejected and the error suggests the closest match. If `events` is omitted, the " +
		"integration receives every event its type supports. An organization can have only one enabled `smtp` " +
		"integration.",
	"update-integration": "Omitted fields and secrets stay unchanged; `null` removes an entry from `config`. If " +
		"the host in an address changes, the secrets must be sent again.",
	"delete-integration": "Issues and files that were already created in the other tool are kept.",
	"test-integration": "Signs in to the other tool. For a chat or endpoint, also sends a test message; for a " +
		"bucket, writes a test file and deletes it. Times out after 20 seconds. Also works while the integration " +
		"is disabled.",
	"sync-integration": "Available for the types `jira`, `github` and `servicenow`. An issue is created for each " +
		"item of an approved plan. Due dates and whether an item is open or closed sync both ways. An item that " +
		"was changed on both sides is left unchanged and marked as `conflict`.",
	"resolve-issue-link": "The side that wasn't chosen is updated immediately.",
	"get-secret-key":     "The response never contains the key itself.",
	"rotate-secret-key": "Re-encrypts the secrets of all webhooks and integrations with a new key. Old keys are " +
		"kept until they are deleted. If the key comes from an environment variable, first set the variable to " +
		"`NEW,OLD`; this operation then re-encrypts all secrets with the first of the two keys.",
	"create-webhook": "If `events` is omitted, all events are sent. Every delivery is signed with the secret, " +
		"following the Standard Webhooks specification. The secret is shown only once.",
	"rotate-webhook":          "For one day, each delivery is signed with both the old and the new secret.",
	"test-webhook":            "Sends one event of type `webhook.test`, without retries. Also works while the webhook is disabled.",
	"list-webhook-deliveries": "Each delivery includes all attempts and the responses to them. Failed deliveries are retried for about a day.",
	"send-email": "Queues the email and sends it to each address separately. Failed deliveries are retried for " +
		"about a day. `variables` contains the values for the template. Returns 409 if no mail server is " +
		"configured.",
	"get-email": "`sent` means that the mail server accepted the email; it doesn't show whether it was read or bounced later.",
	"put-email-template": "Supports only `{{variable}}` and `{{if variable}} … {{else}} … {{end}}`. In HTML, " +
		"values are escaped according to context. A template with unknown variables is rejected.",
	"preview-email-template": "Nothing is sent or saved. Without a body, previews the current template with sample values.",
	"put-email-preferences": "Applies to the calling user in all their organizations. Invitations and emails sent " +
		"manually are always delivered.",
	"create-alert-rule": "Alert rules are evaluated every 30 seconds. A change of state is reported once, after it " +
		"has lasted for `window_seconds`.",
	"update-alert-rule": "Changing the metric, operator or threshold resets the rule's state to `ok`.",
	"list-audit-events": "The events form a chain: each contains the hash of the previous one. An `action` that " +
		"ends in a dot matches every action that starts with it.",
}
