package mail

// MaxBoundaries is exported for tests.
const MaxBoundaries = maxBoundaries
