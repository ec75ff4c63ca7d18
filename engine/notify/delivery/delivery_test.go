package delivery

import (
	"fmt"
	"testing"
	"time"
)

func TestRetryDelay(t *testing.T) {
	for tries := 1; tries <= len(retryDelays)+2; tries++ {
		base := retryDelays[min(tries, len(retryDelays))-1]
		seen := map[time.Duration]bool{}
		for i := range 20 {
			id := fmt.Sprintf("delivery-%d", i)
			d := retryDelay(id, tries)
			if off := (d - base).Abs(); off > base/10 {
				t.Errorf("attempt %d: %v is more than a tenth off %v", tries, d, base)
			}
			if d != retryDelay(id, tries) {
				t.Errorf("attempt %d of %s: the delay changes", tries, id)
			}
			seen[d] = true
		}
		if len(seen) < 2 {
			t.Errorf("attempt %d: all deliveries wait equally long", tries)
		}
	}
}
