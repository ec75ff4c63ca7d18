package crossencoder

import (
	"os"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	n, err := ReadFile(os.Getenv("SERVICE_READER_OUT") + "/reader.bin")
	if err != nil {
		b.Skip(err)
	}
	ids := make([]int32, 96)
	for i := range ids {
		ids[i] = int32(2000 + i*37)
	}
	var s scratch
	b.ResetTimer()
	for range b.N {
		n.probabilities(&s, ids, 30)
	}
}
