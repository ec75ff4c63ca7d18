package ollamatest

import "math"

// The tokens of both models: one for each byte, and two for the beginning and end of a text.
const (
	begin = 256 + iota
	end
	tokens
)

// TalkerModel returns a llama model whose next byte depends only on the last one: its single layer adds nothing, so
// the output is the row of the input token. Constrained by a schema, it writes a short text and closes open brackets
// as soon as possible, so that every answer is complete, though meaningless. If endless is set, it never ends a text.
func TalkerModel(endless bool) []byte {
	const (
		width = 288 // one dimension for each token, and a multiple of the head's size
		heads = 9
		inner = 32
	)
	g := &gguf{}
	g.addMetadata("general.architecture", "llama")
	g.addMetadata("general.name", "talker")
	g.addMetadata("general.file_type", 0)
	g.addMetadata("llama.vocab_size", tokens)
	g.addMetadata("llama.context_length", 32768)
	g.addMetadata("llama.embedding_length", width)
	g.addMetadata("llama.block_count", 1)
	g.addMetadata("llama.feed_forward_length", inner)
	g.addMetadata("llama.attention.head_count", heads)
	g.addMetadata("llama.attention.head_count_kv", heads)
	g.addMetadata("llama.rope.dimension_count", width/heads)
	g.addMetadata("llama.rope.freq_base", 10000.0)
	g.addMetadata("llama.attention.layer_norm_rms_epsilon", 1e-5)
	g.addMetadata("tokenizer.ggml.model", "gpt2")
	g.addMetadata("tokenizer.ggml.pre", "gpt-2")
	g.addMetadata("tokenizer.ggml.tokens", append(gpt2ByteNames(), "<s>", "</s>"))
	kinds := make([]int32, tokens)
	for i := range kinds {
		kinds[i] = 1 // an ordinary token
	}
	kinds[begin], kinds[end] = 3, 3 // control tokens
	g.addMetadata("tokenizer.ggml.token_type", kinds)
	g.addMetadata("tokenizer.ggml.merges", []string{})
	g.addMetadata("tokenizer.ggml.bos_token_id", begin)
	g.addMetadata("tokenizer.ggml.eos_token_id", end)

	g.addTensor("token_embd.weight", func(i int) float32 {
		if i/width == i%width {
			return 1
		}
		return 0
	}, width, tokens)
	g.addTensor("output_norm.weight", one, width)
	g.addTensor("output.weight", func(i int) float32 {
		next, last := i/width, i%width
		if last >= tokens {
			return 0
		}
		// The norm multiplies the 1 that stands for a token by sqrt(width).
		return tokenScore(last, next, endless) / float32(math.Sqrt(width))
	}, width, tokens)
	g.addTensor("blk.0.attn_norm.weight", one, width)
	g.addTensor("blk.0.ffn_norm.weight", one, width)
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		g.addTensor("blk.0."+name+".weight", zero, width, width)
	}
	g.addTensor("blk.0.ffn_gate.weight", zero, width, inner)
	g.addTensor("blk.0.ffn_up.weight", zero, width, inner)
	g.addTensor("blk.0.ffn_down.weight", zero, inner, width)
	return g.bytes()
}

// tokenScore returns the talker's score for a token that follows another. Of the tokens that the schema allows, the
// one with the highest score is chosen.
func tokenScore(last, next int, endless bool) float32 {
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
	// Prefer closing brackets, then the characters that JSON requires.
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

// gpt2ByteNames returns GPT-2's names of the 256 bytes. Printable bytes name themselves; the others are represented
// by characters from U+0100 on.
func gpt2ByteNames() []string {
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

// Dimensions is the length of the embedder's vectors.
const Dimensions = 64

// EmbedderModel returns a BERT model with one layer and random weights. Its vectors are meaningless, but equal for
// equal texts and different for different ones.
func EmbedderModel() []byte {
	const (
		heads  = 2
		inner  = 128
		length = 128
		eps    = 1e-12
	)
	// The vocabulary is in lower case, and pieces that begin a word are marked.
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
	g.addMetadata("general.architecture", "bert")
	g.addMetadata("general.name", "embedder")
	g.addMetadata("general.file_type", 0)
	g.addMetadata("bert.block_count", 1)
	g.addMetadata("bert.context_length", length)
	g.addMetadata("bert.embedding_length", Dimensions)
	g.addMetadata("bert.feed_forward_length", inner)
	g.addMetadata("bert.attention.head_count", heads)
	g.addMetadata("bert.attention.head_count_kv", heads)
	g.addMetadata("bert.attention.layer_norm_epsilon", eps)
	g.addMetadata("bert.attention.causal", false)
	g.addMetadata("bert.pooling_type", 1) // the mean
	g.addMetadata("tokenizer.ggml.model", "bert")
	g.addMetadata("tokenizer.ggml.pre", "jina-v2-en")
	g.addMetadata("tokenizer.ggml.tokens", vocabulary)
	g.addMetadata("tokenizer.ggml.scores", scores)
	g.addMetadata("tokenizer.ggml.token_type", kinds)
	g.addMetadata("tokenizer.ggml.token_type_count", 2)
	g.addMetadata("tokenizer.ggml.padding_token_id", 0)
	g.addMetadata("tokenizer.ggml.unknown_token_id", 1)
	g.addMetadata("tokenizer.ggml.cls_token_id", 2)
	g.addMetadata("tokenizer.ggml.bos_token_id", 2)
	g.addMetadata("tokenizer.ggml.seperator_token_id", 3) // the key is misspelled in the format
	g.addMetadata("tokenizer.ggml.eos_token_id", 3)
	g.addMetadata("tokenizer.ggml.mask_token_id", 4)

	any := newNoise(88172645463325252)
	norm := func(name string) {
		g.addTensor(name+".weight", one, Dimensions)
		g.addTensor(name+".bias", zero, Dimensions)
	}
	linear := func(name string, in, out int) {
		g.addTensor(name+".weight", any, in, out)
		g.addTensor(name+".bias", zero, out)
	}
	g.addTensor("token_embd.weight", any, Dimensions, len(vocabulary))
	g.addTensor("token_types.weight", any, Dimensions, 2)
	g.addTensor("position_embd.weight", any, Dimensions, length)
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
