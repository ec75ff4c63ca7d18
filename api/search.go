package api

// SearchInput is the input for searching the knowledge base.
type SearchInput struct {
	Body SearchBody
}

// SearchBody is a search query with its filters.
type SearchBody struct {
	Query        string `json:"query" minLength:"1" maxLength:"4000"`
	AssessmentID string `json:"assessment_id,omitempty" minLength:"1"`
	DocumentID   string `json:"document_id,omitempty" minLength:"1"`
	Category     string `json:"category,omitempty"`
	// EffectiveFrom and EffectiveTo are inclusive; documents without a date are excluded.
	EffectiveFrom *Date   `json:"effective_from,omitempty" doc:"Only documents effective on or after this date."`
	EffectiveTo   *Date   `json:"effective_to,omitempty" doc:"Only documents effective on or before this date."`
	TopK          int     `json:"top_k,omitempty" minimum:"1" maximum:"100" default:"10"`
	MinScore      float64 `json:"min_score,omitempty" minimum:"0" maximum:"1" default:"0"`
	Translate     bool    `json:"translate,omitempty" doc:"Have the language model in use translate the query into the other languages of the assessment's documents, and search these too. Needs assessment_id."`
}

// SearchScores are the components of a search hit's score.
type SearchScores struct {
	Semantic float64 `json:"semantic"`
	Keyword  float64 `json:"keyword"`
}

// SearchHit is a passage that matches a search, with its source.
type SearchHit struct {
	ChunkID       string       `json:"chunk_id"`
	DocumentID    string       `json:"document_id"`
	AssessmentID  string       `json:"assessment_id"`
	DocumentTitle string       `json:"document_title"`
	Filename      string       `json:"filename"`
	Text          string       `json:"text"`
	HeadingPath   []string     `json:"heading_path"`
	Highlights    []string     `json:"highlights"`
	Locator       Locator      `json:"locator"`
	Score         float64      `json:"score" doc:"0 to 1; a threshold has the same meaning on every corpus."`
	Scores        SearchScores `json:"scores"`
	Marks         []Mark       `json:"marks" doc:"The query words in text, inside the highlights; empty if only the meaning matched."`
	DuplicateIDs  []string     `json:"duplicate_ids" doc:"Nearly identical passages, folded into this one."`
	Category      string       `json:"category"`
	EffectiveDate *Date        `json:"effective_date"`
}

// Mark is a range of characters in a passage, from Start up to but excluding End.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// SearchAnswer holds the passages that match a search, best first.
type SearchAnswer struct {
	Data     []SearchHit `json:"data"`
	Query    string      `json:"query"`
	TopK     int         `json:"top_k"`
	MinScore float64     `json:"min_score"`
	Embedder string      `json:"embedder"`
	// Translations is empty unless the query asked for them.
	Translations []QueryTranslation `json:"translations" doc:"The query as it was searched in other languages."`
}

// QueryTranslation is a search query in another language.
type QueryTranslation struct {
	Language string `json:"language" doc:"ISO 639-1."`
	Query    string `json:"query"`
}

// ChunksInput is the input for listing passages.
type ChunksInput struct {
	Paging
	AssessmentID string `query:"assessment_id"`
	DocumentID   string `query:"document_id"`
	Q            string `query:"q" doc:"Part of the text or its headings."`
}

// ChunkInput identifies a passage.
type ChunkInput struct {
	ChunkID string `path:"chunkId"`
}

// KBStats holds the totals of an organization's knowledge base.
type KBStats struct {
	OrganizationID      string                `json:"organization_id"`
	Documents           int                   `json:"documents"`
	DocumentsByStatus   map[DocumentState]int `json:"documents_by_status"`
	OutdatedDocuments   int                   `json:"outdated_documents" doc:"How many documents of open assessments this version of the program would read differently."`
	Chunks              int                   `json:"chunks"`
	Embedded            int                   `json:"embedded"`
	Embedder            string                `json:"embedder"`
	EmbeddingDimensions int                   `json:"embedding_dimensions"`
	ServedBy            string                `json:"served_by" doc:"The embedder in use if some passages lack vectors of the chosen one, or it is unavailable."`
}

// EmbeddingStatus reports how many passages have been embedded for search.
type EmbeddingStatus struct {
	Status   string `json:"status" enum:"idle,training,embedding"`
	Embedder string `json:"embedder"`
	Total    int    `json:"total"`
	Embedded int    `json:"embedded"`
	Pending  int    `json:"pending"`
	Failed   int    `json:"failed"`
	// Forbidden is the number of passages that must not be sent to the selected embedder, because it is on another
	// machine.
	Forbidden int    `json:"forbidden" doc:"Passages of assessments that forbid models on other machines; the built-in embedder searches them."`
	ServedBy  string `json:"served_by" doc:"The embedder in use if some passages lack vectors of the chosen one, or it is unavailable."`
	// UnavailableReason is null if the selected embedder was reachable at the last attempt.
	UnavailableReason *string `json:"unavailable_reason" doc:"Why the chosen embedding model is unavailable or was rejected."`
	// TestScore is null for the built-in embedder, and until the selected model has been tested.
	TestScore     *float64 `json:"test_score" doc:"What the chosen model scored in the built-in test, 0 to 1."`
	RequiredScore float64  `json:"required_score" doc:"The lowest test_score of a model that is used."`
	// Training is null if no embedder is being trained.
	Training *EmbedderTraining `json:"training"`
}

// EmbedderTraining is the training progress of a catalog version's embedder.
type EmbedderTraining struct {
	SCFVersionID string `json:"scf_version_id"`
	Label        string `json:"label"`
	Progress     int    `json:"progress" doc:"In percent."`
}

const tagKB = "Knowledge base"

// Operations on the knowledge base, defined in section 4.8 of the API specification.
var (
	SearchKB = Post[SearchInput, SearchAnswer](
		"search-kb", "/kb/search", "kb:search", tagKB,
		"Search passages by meaning",
	)
	ListChunks = Get[ChunksInput, List[Chunk]](
		"list-kb-chunks", "/kb/chunks", "kb:read", tagKB,
		"List passages",
	)
	GetChunk = Get[ChunkInput, Chunk](
		"get-kb-chunk", "/kb/chunks/{chunkId}", "kb:read", tagKB,
		"Get a passage",
	)
	GetKBStats = Get[None, KBStats](
		"get-kb-stats", "/kb/stats", "kb:read", tagKB,
		"Get knowledge base totals",
	)
	GetEmbeddingStatus = Get[None, EmbeddingStatus](
		"get-kb-embedding-status", "/kb/embeddings/status", "kb:read", tagKB,
		"Get the embedding progress",
	)
	ListKBDocumentChunks = Get[DocumentChunksInput, List[Chunk]](
		"list-kb-document-chunks", "/kb/documents/{documentId}/chunks", "kb:read", tagKB,
		"List a document's passages",
	)
)
