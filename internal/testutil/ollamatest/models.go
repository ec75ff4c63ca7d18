package ollamatest

import "math"

// The tokens of both models: one a byte, and two that begin and end a text.
const (
	begin = 256 + iota
	end
	tokens
)

// Talker is a llama whose next letter hangs on the last one alone: its only layer adds
// nothing, so what comes out is the row of the token that went in. Bound by a schema it says a short text, and
// closes what is open as soon as it may; so every answer is whole, and means nothing.
//
// Where endless, a text that was begun is not ended.
func Talker(endless bool) []byte {
	const (
		width = 288 // one place for each token, and a multiple of the head's size
		heads = 9
		inner = 32
	)
	g := &gguf{}
	g.fact("general.architecture", "llama")
	g.fact("general.name", "talker")
	g.fact("general.file_type", 0)
	g.fact("llama.vocab_size", tokens)
	g.fact("llama.context_length", 32768)
	g.fact("llama.embedding_length", width)
	g.fact("llama.block_count", 1)
	g.fact("llama.feed_forward_length", inner)
	g.fact("llama.attention.head_count", heads)
	g.fact("llama.attention.head_count_kv", heads)
	g.fact("llama.rope.dimension_count", width/heads)
	g.fact("llama.rope.freq_base", 10000.0)
	g.fact("llama.attention.layer_norm_rms_epsilon", 1e-5)
	g.fact("tokenizer.ggml.model", "gpt2")
	g.fact("tokenizer.ggml.pre", "gpt-2")
	g.fact("tokenizer.ggml.tokens", append(byteNames(), "<s>", "</s>"))
	kinds := make([]int32, tokens)
	for i := range kinds {
		kinds[i] = 1 // ordinary
	}
	kinds[begin], kinds[end] = 3, 3 // control
	g.fact("tokenizer.ggml.token_type", kinds)
	g.fact("tokenizer.ggml.merges", []string{})
	g.fact("tokenizer.ggml.bos_token_id", begin)
	g.fact("tokenizer.ggml.eos_token_id", end)

	g.tensor("token_embd.weight", func(i int) float32 {
		if i/width == i%width {
			return 1
		}
		return 0
	}, width, tokens)
	g.tensor("output_norm.weight", one, width)
	g.tensor("output.weight", func(i int) float32 {
		next, last := i/width, i%width
		if last >= tokens {
			return 0
		}
		// The norm makes sqrt(width) of the 1 that stands for a token.
		return liking(last, next, endless) / float32(math.Sqrt(width))
	}, width, tokens)
	g.tensor("blk.0.attn_norm.weight", one, width)
	g.tensor("blk.0.ffn_norm.weight", one, width)
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		g.tensor("blk.0."+name+".weight", zero, width, width)
	}
	g.tensor("blk.0.ffn_gate.weight", zero, width, inner)
	g.tensor("blk.0.ffn_up.weight", zero, width, inner)
	g.tensor("blk.0.ffn_down.weight", zero, inner, width)
	return g.bytes()
}

// liking is how much the talker wants a token after another; the schema forbids most.
func liking(last, next int, endless bool) float32 {
	text := "abcdef "
	for i := range len(text) {
		if last != int(text[i]) {
			continue
		}
		following := int(text[(i+1)%len(text)])
		if !endless && text[i] == 'f' {
			following = '"'
		}
		if next == following {
			return 60
		}
	}
	if last == '"' && next == 'a' {
		return 60 // a text begins
	}
	// What may be closed is closed, and what must begin begins.
	for i, c := range []int{'}', ']', ',', ':', '"', '[', '{', 't', 'f', 'n', '1', '2', '5', end, 'a', 'e'} {
		if next == c {
			return float32(40 - i)
		}
	}
	if next == ' ' || next == '\n' || next == '\t' {
		return -40
	}
	return 0
}

// byteNames are the 256 bytes as GPT-2 writes them: the printable as they are, the others
// moved behind them.
func byteNames() []string {
	out := make([]string, 256)
	moved := 0
	for b := range 256 {
		r := rune(b)
		if b < 33 || b > 126 && b < 161 || b == 173 {
			r = rune(256 + moved)
			moved++
		}
		out[b] = string(r)
	}
	return out
}

// Dimensions is the length of the Embedder's vectors.
const Dimensions = 64

// Embedder is a BERT of one layer and random weights: its vectors mean nothing, are the same
// for the same text, and differ for others.
func Embedder() []byte {
	const (
		heads  = 2
		inner  = 128
		length = 128
		eps    = 1e-12
	)
	// Words are lower case there; a piece that begins one is marked.
	vocabulary := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := '!'; c <= '~'; c++ {
		vocabulary = append(vocabulary, "▁"+string(c), string(c))
	}
	kinds := make([]int32, len(vocabulary))
	scores := make([]float32, len(vocabulary))
	for i := range kinds {
		kinds[i] = 1
		if i < 5 {
			kinds[i] = 3
		}
	}
	g := &gguf{}
	g.fact("general.architecture", "bert")
	g.fact("general.name", "embedder")
	g.fact("general.file_type", 0)
	g.fact("bert.block_count", 1)
	g.fact("bert.context_length", length)
	g.fact("bert.embedding_length", Dimensions)
	g.fact("bert.feed_forward_length", inner)
	g.fact("bert.attention.head_count", heads)
	g.fact("bert.attention.head_count_kv", heads)
	g.fact("bert.attention.layer_norm_epsilon", eps)
	g.fact("bert.attention.causal", false)
	g.fact("bert.pooling_type", 1) // the mean
	g.fact("tokenizer.ggml.model", "bert")
	g.fact("tokenizer.ggml.pre", "jina-v2-en")
	g.fact("tokenizer.ggml.tokens", vocabulary)
	g.fact("tokenizer.ggml.scores", scores)
	g.fact("tokenizer.ggml.token_type", kinds)
	g.fact("tokenizer.ggml.token_type_count", 2)
	g.fact("tokenizer.ggml.padding_token_id", 0)
	g.fact("tokenizer.ggml.unknown_token_id", 1)
	g.fact("tokenizer.ggml.cls_token_id", 2)
	g.fact("tokenizer.ggml.bos_token_id", 2)
	g.fact("tokenizer.ggml.seperator_token_id", 3) // so spelled there
	g.fact("tokenizer.ggml.eos_token_id", 3)
	g.fact("tokenizer.ggml.mask_token_id", 4)

	any := noise(88172645463325252)
	norm := func(name string) {
		g.tensor(name+".weight", one, Dimensions)
		g.tensor(name+".bias", zero, Dimensions)
	}
	linear := func(name string, in, out int) {
		g.tensor(name+".weight", any, in, out)
		g.tensor(name+".bias", zero, out)
	}
	g.tensor("token_embd.weight", any, Dimensions, len(vocabulary))
	g.tensor("token_types.weight", any, Dimensions, 2)
	g.tensor("position_embd.weight", any, Dimensions, length)
	norm("token_embd_norm")
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		linear("blk.0."+name, Dimensions, Dimensions)
	}
	norm("blk.0.attn_output_norm")
	linear("blk.0.ffn_up", Dimensions, inner)
	linear("blk.0.ffn_down", inner, Dimensions)
	norm("blk.0.layer_output_norm")
	return g.bytes()
}
