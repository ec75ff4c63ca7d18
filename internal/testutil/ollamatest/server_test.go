package ollamatest

import (
	"bytes"
	"testing"
)

// TestModelsAreMadeTheSame checks that the model files are reproducible, begin with the format's header and are
// aligned.
func TestModelsAreMadeTheSame(t *testing.T) {
	for name, made := range map[string]func() []byte{
		"talker": func() []byte { return TalkerModel(false) }, "endless": func() []byte { return TalkerModel(true) }, "embedder": EmbedderModel,
	} {
		a, b := made(), made()
		if !bytes.Equal(a, b) || !bytes.HasPrefix(a, []byte("GGUF\x03\x00\x00\x00")) || len(a)%32 != 0 {
			t.Errorf("%s: %d bytes, %d again", name, len(a), len(b))
		}
	}
	if bytes.Equal(TalkerModel(false), TalkerModel(true)) {
		t.Error("one talker is as the other")
	}
}
