package api

import "time"

// Reader is a source of readings for an assessment: an imported file, a language model, or the built-in network.
type Reader struct {
	OrganizationID string    `json:"organization_id"`
	AssessmentID   string    `json:"assessment_id"`
	Name           string    `json:"name"`
	SHA256         string    `json:"sha256" doc:"Hash of the readings."`
	Readings       int       `json:"readings"`
	Statements     int       `json:"statements" doc:"Number of statements with at least one reading."`
	OfStatements   int       `json:"of_statements" doc:"Number of statements for which there was a passage to read at the time of the import."`
	ImportedBy     string    `json:"imported_by"`
	ImportedAt     time.Time `json:"imported_at"`
	// Model describes the language model that read; nil for a file and for the built-in network.
	Model *ReaderModel `json:"model"`
}

// ReaderModel is a language model as a reader, and the resources used by its readings. A different digest, served
// name or prompt makes it a different reader.
type ReaderModel struct {
	Name             string  `json:"name" doc:"Name of the model, e.g. ollama/qwen3:8b."`
	Digest           string  `json:"digest" doc:"Digest of the model's weights; empty if its server doesn't report one."`
	ServedModel      string  `json:"served_model" doc:"Name that the server's answers give, if it is another."`
	Prompt           string  `json:"prompt" doc:"Version of the prompt."`
	Seed             int     `json:"seed" doc:"Seed of the requests; a statement that is asked again gets the next one."`
	Calls            int     `json:"calls"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Seconds          float64 `json:"seconds" doc:"Time that the calls took."`
	DroppedQuotes    int     `json:"dropped_quotes" doc:"Number of findings that were dropped because their quote is not in the passage."`
	Fooled           int     `json:"failed_checks" doc:"Number of calls whose answers don't count, because they find shown what no document shows."`
	Unanswered       int     `json:"statements_without_answer" doc:"Number of statements without a valid answer for some passage, which are left to the rules."`
}

// ModelReading reports how much of an assessment's evidence a language model has read, how much the latest call read,
// and the estimated cost of reading the rest.
type ModelReading struct {
	Model      ReaderModel `json:"model"`
	Server     string      `json:"server"`
	Remote     bool        `json:"remote" doc:"Whether the passages leave the machine that runs the service."`
	Reader     string      `json:"reader" doc:"Name of the reader that a draft can use."`
	Statements int         `json:"statements" doc:"Number of statements with passages to read."`
	Left       int         `json:"statements_left" doc:"Number of statements with passages that the model has not read yet."`
	Withheld   int         `json:"passages_withheld" doc:"Number of passages that the model doesn't get because they address their reader; the rules read them."`
	Next       ModelUse    `json:"next" doc:"Estimate of what reading the rest takes."`
	Used       ModelUse    `json:"used" doc:"What this call took."`
	Limits     ModelLimits `json:"limits"`
	Stopped    string      `json:"stopped" doc:"The limit that ended the reading before everything was read; empty if none did."`
	Note       string      `json:"note" doc:"What is unusual, such as another model under the same name."`
}

// ModelUse is the resources used by requests to a model.
type ModelUse struct {
	Calls            int     `json:"calls"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Seconds          float64 `json:"seconds" doc:"0 if unknown, e.g. before the first answer."`
	Cost             float64 `json:"cost" doc:"By the prices that were set; 0 without prices."`
}

// Tokens returns the number of tokens in both directions.
func (u ModelUse) Tokens() int { return u.PromptTokens + u.CompletionTokens }

// Add returns the sum of two uses.
func (u ModelUse) Add(v ModelUse) ModelUse {
	return ModelUse{
		Calls: u.Calls + v.Calls, PromptTokens: u.PromptTokens + v.PromptTokens, CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		Seconds: u.Seconds + v.Seconds, Cost: u.Cost + v.Cost,
	}
}

// ModelLimits limits what a model may use in one run, and determines when to ask for confirmation first. 0 means no
// limit.
type ModelLimits struct {
	Concurrency     int     `json:"concurrency" doc:"Requests at the same time."`
	ContextTokens   int     `json:"context_tokens" doc:"Size of the model's context."`
	MaxTokens       int     `json:"max_tokens"`
	MaxSeconds      float64 `json:"max_seconds"`
	MaxCost         float64 `json:"max_cost"`
	AskTokens       int     `json:"ask_tokens" doc:"Number of tokens above which to ask before a run."`
	AskCost         float64 `json:"ask_cost" doc:"Cost above which to ask before a run."`
	PromptPrice     float64 `json:"prompt_price" doc:"Price of a million tokens of prompts, in a currency of your choice."`
	CompletionPrice float64 `json:"completion_price" doc:"Price of a million tokens of answers."`
}

// Cost returns the price of tokens.
func (l ModelLimits) Cost(prompt, completion int) float64 {
	return (float64(prompt)*l.PromptPrice + float64(completion)*l.CompletionPrice) / 1e6
}

// ModelReader is the name of the reader that represents the language model in use.
const ModelReader = "model"

// BuiltinReader is the name of the reader that represents the built-in network.
const BuiltinReader = "builtin"

// RecordID returns the reader's name, because it identifies the reader within its assessment.
func (r Reader) RecordID() string { return r.Name }

type (
	// ReaderListInput is the input for listing the readers of an assessment.
	ReaderListInput struct {
		AssessmentInput
		Paging
	}
	// ReaderInput identifies a reader of an assessment.
	ReaderInput struct {
		AssessmentInput
		Name string `path:"readerName" maxLength:"64"`
	}
	// ImportReadingsInput is the input for importing a file of readings.
	ImportReadingsInput struct {
		AssessmentInput
		File UploadFile `form:"file"`
		Name string     `form:"name" doc:"Name of the reader, as on every line of the file; lower-case letters, digits, dots, hyphens and underscores."`
	}
	// ReadWithModelInput is the input for reading with a language model or the built-in network. A caller that repeats the call until nothing
	// is left passes the usage of earlier calls, so that the limits apply to all of them.
	ReadWithModelInput struct {
		AssessmentInput
		Body struct {
			Reader  string   `json:"reader,omitempty" enum:"model,builtin" doc:"builtin for the built-in network, which needs no model; by default the language model in use."`
			Seconds int      `json:"seconds,omitempty" minimum:"1" maximum:"600" doc:"Time after which no request to the model is started; by default 20."`
			Used    ModelUse `json:"used,omitzero" required:"false" doc:"What earlier calls of the same run used."`
		}
	}
	// DraftSoAInput is the input for drafting a Statement of Applicability.
	DraftSoAInput struct {
		AssessmentInput
		// SecondReader is a reader whose verdicts don't count, but are shown where they differ.
		SecondReader string `query:"second_reader" maxLength:"64" doc:"model, builtin, or the name of a reader that also reads. Its verdicts are shown where they differ and never change a status. If reader and second_reader are omitted, those of the newest version."`
		Reader       string `query:"reader" maxLength:"64" doc:"rules, builtin for the built-in network, model for the language model in use, or the name of a reader. By default, the reader of the newest version; rules if there is none."`
	}
)

const tagReader = "Readers"

// Operations on readers of evidence.
var (
	ExportReaderStatements = Get[AssessmentInput, File](
		"export-reader-statements", "/assessments/{assessmentId}/reader/statements", "kb:read", tagReader,
		"Export the statements to check, each with the passages to read, as JSON Lines", WithBodyEncoding(Download),
	)
	ExportReaderDecisions = Get[AssessmentInput, File](
		"export-reader-decisions", "/assessments/{assessmentId}/reader/decisions", "soa:read", tagReader,
		"Export the automatic verdicts that users accepted or changed, as JSON Lines", WithBodyEncoding(Download),
	)
	ListReaders = Get[ReaderListInput, List[Reader]](
		"list-readers", "/assessments/{assessmentId}/readers", "assessment:read", tagReader,
		"List the evidence readers of an assessment, sorted by name",
	)
	ExportReadings = Get[ReaderInput, File](
		"export-readings", "/assessments/{assessmentId}/readers/{readerName}/readings", "kb:read", tagReader,
		"Export a reader's judgments of the passages, as JSON Lines", WithBodyEncoding(Download),
	)
	GetModelReading = Get[AssessmentInput, ModelReading](
		"get-model-reading", "/assessments/{assessmentId}/reader/model", "kb:read", tagReader,
		"Show how much evidence the language model has read, and the estimated effort for the remaining evidence",
	)
	ReadWithModel = Post[ReadWithModelInput, ModelReading](
		"read-with-model", "/assessments/{assessmentId}/reader/model/readings", "soa:write", tagReader,
		"Have the language model or the built-in network read evidence it has not read yet; repeat until all evidence is read",
	)
	ImportReadings = Post[ImportReadingsInput, Reader](
		"import-readings", "/assessments/{assessmentId}/reader/readings", "soa:write", tagReader,
		"Import a reader's judgments of passages from a file", WithBodyEncoding(Upload),
	)
)
