package api

// SearchInput is a question to the knowledge base.
type SearchInput struct {
	Body SearchBody
}

// SearchBody is what to look for, and where.
type SearchBody struct {
	Query        string `json:"query" minLength:"1" maxLength:"4000"`
	AssessmentID string `json:"assessment_id,omitempty"`
	DocumentID   string `json:"document_id,omitempty"`
	Category     string `json:"category,omitempty"`
	// EffectiveFrom and EffectiveTo are both included; documents without a date are left out.
	EffectiveFrom *Date   `json:"effective_from,omitempty" doc:"Only documents that took effect on this day or later."`
	EffectiveTo   *Date   `json:"effective_to,omitempty" doc:"Only documents that took effect on this day or before."`
	TopK          int     `json:"top_k,omitempty" minimum:"1" maximum:"100" default:"10"`
	MinScore      float64 `json:"min_score,omitempty" minimum:"0" maximum:"1" default:"0"`
}

// SearchScores are the parts of a score.
type SearchScores struct {
	Semantic float64 `json:"semantic"`
	Keyword  float64 `json:"keyword"`
}

// SearchHit is a passage that answers, with its source.
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
	Score         float64      `json:"score" doc:"0 to 1; one threshold means the same on every corpus."`
	Scores        SearchScores `json:"scores"`
	Marks         []Mark       `json:"marks" doc:"The words of the query in text, inside the highlights; empty where only the meaning matched."`
	SameAs        []string     `json:"same_as" doc:"Passages that say the same in nearly the same words, which are folded into this one."`
	Category      string       `json:"category"`
	EffectiveDate *Date        `json:"effective_date"`
}

// Mark is a part of a text, in characters: from Start up to, but not with, End.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// SearchAnswer is the passages that answer, best first.
type SearchAnswer struct {
	Data     []SearchHit `json:"data"`
	Query    string      `json:"query"`
	TopK     int         `json:"top_k"`
	MinScore float64     `json:"min_score"`
	Embedder string      `json:"embedder"`
}

// ChunksInput lists passages.
type ChunksInput struct {
	Paging
	AssessmentID string `query:"assessment_id"`
	DocumentID   string `query:"document_id"`
	Q            string `query:"q" doc:"Part of the text or its headings."`
}

// ChunkInput names a passage.
type ChunkInput struct {
	ChunkID string `path:"chunkId"`
}

// KBStats counts the knowledge base of an organization.
type KBStats struct {
	OrganizationID      string                `json:"organization_id"`
	Documents           int                   `json:"documents"`
	DocumentsByStatus   map[DocumentState]int `json:"documents_by_status"`
	Chunks              int                   `json:"chunks"`
	Embedded            int                   `json:"embedded"`
	Embedder            string                `json:"embedder"`
	EmbeddingDimensions int                   `json:"embedding_dimensions"`
	ServedBy            string                `json:"served_by" doc:"The embedder that answers where not all passages have vectors of the chosen one, or it is away."`
}

// EmbeddingStatus tells how far the embedding of the passages is.
type EmbeddingStatus struct {
	Status   string `json:"status" enum:"idle,training,embedding"`
	Embedder string `json:"embedder"`
	Total    int    `json:"total"`
	Embedded int    `json:"embedded"`
	Pending  int    `json:"pending"`
	Failed   int    `json:"failed"`
	ServedBy string `json:"served_by" doc:"The embedder that answers where not all passages have vectors of the chosen one, or it is away."`
	// Away is null where the chosen embedder was reached the last time.
	Away *string `json:"away" doc:"Why the chosen embedding model can't be used now."`
	// Training is null where no embedder is being trained.
	Training *EmbedderTraining `json:"training"`
}

// EmbedderTraining tells how far the embedder of a catalog version is trained.
type EmbedderTraining struct {
	SCFVersionID string `json:"scf_version_id"`
	Label        string `json:"label"`
	Progress     int    `json:"progress" doc:"In percent."`
}

const tagKB = "Knowledge base"

// Operations of the interface's part 4.8.
var (
	SearchKB = Post[SearchInput, SearchAnswer](
		"search-kb",
		"/kb/search",
		WithPermission("kb:search"),
		WithTag(tagKB),
		WithSummary("Find passages by meaning"),
	)
	ListChunks = Get[ChunksInput, List[Chunk]](
		"list-kb-chunks",
		"/kb/chunks",
		WithPermission("kb:read"),
		WithTag(tagKB),
		WithSummary("List passages"),
	)
	GetChunk = Get[ChunkInput, Chunk](
		"get-kb-chunk",
		"/kb/chunks/{chunkId}",
		WithPermission("kb:read"),
		WithTag(tagKB),
		WithSummary("Read a passage"),
	)
	GetKBStats = Get[None, KBStats](
		"get-kb-stats",
		"/kb/stats",
		WithPermission("kb:read"),
		WithTag(tagKB),
		WithSummary("Count the knowledge base"),
	)
	GetEmbeddingStatus = Get[None, EmbeddingStatus](
		"get-kb-embedding-status",
		"/kb/embeddings/status",
		WithPermission("kb:read"),
		WithTag(tagKB),
		WithSummary("Tell how far the embedding is"),
	)
	ListKBDocumentChunks = Get[DocumentChunksInput, List[Chunk]](
		"list-kb-document-chunks",
		"/kb/documents/{documentId}/chunks",
		WithPermission("kb:read"),
		WithTag(tagKB),
		WithSummary("List a document's passages"),
	)
)
