package crossencoder

import (
	"os"
	"testing"
)

// BenchmarkRead reads one window of 96 word pieces with the network in the folder SERVICE_READER_OUT.
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
