package daemon_test

import (
	"testing"

	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/internal/testutil/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// TestOnPostgres runs the tests of this package on PostgreSQL that depend most on the store: every operation, the border
// between organizations, and what happens once although it is requested twice. Whole assessments, sessions and rate limits are
// tested there by TestScriptsOnPostgres and TestTwoDaemons. All tests run there with SERVICE_TEST_STORE=postgres.
func TestOnPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats tests of this package, so the race detector would find nothing new")
	}
	postgrestest.NewURL(t) // or skips the test
	t.Setenv(enginetest.StoreVariable, "postgres")
	for _, one := range []struct {
		name string
		test func(*testing.T)
	}{
		{"EveryOperationMatchesOpenAPI", TestEveryOperationMatchesOpenAPI},
		{"Isolation", TestIsolation},
		{"PasswordGuessingIsThrottled", TestPasswordGuessingIsThrottled},
		{"Idempotency", TestIdempotency},
		{"ConcurrentDecisions", TestConcurrentDecisions},
		{"ChangesHonorIfMatch", TestChangesHonorIfMatch},
		{"WaitForDocument", TestWaitForDocument},
	} {
		t.Run(one.name, one.test)
	}
}
