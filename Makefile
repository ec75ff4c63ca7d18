# make test      all tests that need nothing but Go
# make check     everything else that the CI server checks; see CONTRIBUTING.md
# make nightly   the long tests, fuzzing and all benchmarks
# make build     the program, in bin/
# make release   a trial release, in dist/

SHELL := /bin/bash
.NOTPARALLEL:
.DELETE_ON_ERROR:

PACKAGES  ?= ./...
FUZZTIME  ?= 30s
MACHINES  ?= all
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null)

CACHE     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/service-tools
# The file name contains a checksum of the linter's version and the Go version, so the linter is rebuilt when either changes.
LINTER    = $(CACHE)/golangci-lint-$(shell { cat tools/go.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
RELEASER  = $(CACHE)/goreleaser-$(shell { cat tools/release.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
TREE      = $(shell git rev-parse --git-path service-tree-before)

.PHONY: build test check nightly setup programs postgres pages fmt mod lint linter vet types cross race bench bench-all long fuzz release tree-before clean-tree

build:
	CGO_ENABLED=0 go build -trimpath -tags $(TAGS) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/service ./cmd/service

# Only the race detector needs cgo. Compiling takes half the time of all tests, so the compiler leaves out debugging
# information and inlines only in the standard library and in packages that do the heavy work.
TAGS    := stdlibjson
MODULE  := github.com/scf-service/service
SLOWER  := github.com google.golang.org go.opentelemetry.io
FASTER  := $(addprefix $(MODULE)/engine/,judge gap maturity plan evidence report/render) \
	$(addprefix github.com/,go-json-experiment klauspost tetratelabs viterin yuin)
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath -tags=$(TAGS) -gcflags=all=-dwarf=false \
	$(SLOWER:%='-gcflags=%/...=-dwarf=false -l') $(FASTER:%=-gcflags=%/...=-dwarf=false)
export GOGC        ?= 300

# Compilers and tests only collect garbage when they come close to the limit, which saves a tenth of the time.
test programs pages bench: export GOGC = off
test programs pages bench: export GOMEMLIMIT = 768MiB

# Test one package more than there are processors at a time, because tests also wait for disks and programs.
test:
	@tools/section "tests" "Run the failing test alone: go test -run NAME ./its/package" \
		env SERVICE_TEST_PROGRAMS=skip go test -vet=off -timeout 30m -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) $(PACKAGES)

# Quick checks come first, so that they fail early.
check: tree-before fmt mod setup programs pages vet types lint bench race clean-tree
	@echo; echo "=== all checks passed"

nightly: tree-before setup long programs postgres bench-all fuzz clean-tree
	@echo; echo "=== the nightly run passed"

fmt:
	@tools/section "format" "Run: gofmt -w on the files named above." \
		bash -c 'files=$$(gofmt -l .) && [ -z "$$files" ] || { echo "$$files"; exit 1; }'

mod:
	@tools/section "modules" "Run: go mod tidy, and review what it changed." \
		go mod tidy -diff

setup:
	@tools/section "programs that tests need" "Install the programs named above, then run make check again." tools/setup

# make test skips these tests. Here, a missing program is a failure.
programs:
	@tools/section "tests that need other programs" "Run the failing test alone: SERVICE_TEST_PROGRAMS=require go test -run NAME ./its/package" \
		tools/program-tests $(PACKAGES)

# All tests of the engine, the daemon and the scripts on PostgreSQL. Those that need something else are in make programs.
postgres:
	@tools/section "tests on PostgreSQL" "Run the failing test alone: SERVICE_TEST_STORE=postgres go test -run NAME ./its/package" \
		env SERVICE_TEST_STORE=postgres go test -vet=off -timeout 60m ./engine/enginetest ./daemon ./cmd/service

# make test only runs the commands of the README.
pages:
	@tools/section "commands on the pages of docs" "Run the failing page alone: SERVICE_LONG_TESTS=1 go test -run TestCommandsOnPages/PAGE.md ./docs" \
		env SERVICE_LONG_TESTS=1 go test -vet=off -count=1 -run '^TestCommandsOnPages$$' ./docs

# Lint includes go vet for the ordinary build.
vet:
	@tools/section "vet with the build tag unipdf" "Fix what go vet reports above." \
		bash -c 'go vet -tags unipdf,$(TAGS) $$(tools/tagged unipdf)'

# Finds type errors on the other systems that a release is built for, without compiling for them.
types:
	@tools/section "types on Windows and macOS" "Code for one system belongs in a file of its own (_unix.go, _other.go)." \
		env SERVICE_LONG_TESTS=1 go test -vet=off -count=1 -run '^TestOtherSystems$$' ./internal/layout

# The same with go vet, which compiles everything for each system. It takes about as long as all tests.
cross:
	@for system in windows darwin; do \
		tools/section "vet for $$system" "Fix what go vet reports above. Code for one system belongs in a file of its own (_unix.go, _other.go)." \
			env GOOS=$$system CGO_ENABLED=0 go vet $(PACKAGES) || exit 1; \
	done
	@tools/section "vet for arm64" "Fix what go vet reports above." env GOARCH=arm64 CGO_ENABLED=0 go vet $(PACKAGES)

linter: $(LINTER)

$(LINTER):
	@mkdir -p $(CACHE)
	@tools/section "building the linter, once for each version" "The module proxy must be reachable; then run make lint again." \
		go build -modfile=tools/go.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

lint: $(LINTER)
	@tools/section "lint" "Fix what is reported above. An exception is //nolint:rule // reason, on its line." \
		$(LINTER) run $(PACKAGES)

# The detector makes code about ten times slower and needs a C compiler: it runs only packages
# that start goroutines, without their long tests.
race:
	@tools/section "tests with the race detector" "Run the failing test alone: go test -race -run NAME ./its/package" \
		bash -c 'export CGO_ENABLED=1; go test -race -short -vet=off -timeout 30m $$(tools/concurrent)'

# Each benchmark runs once. Those that take long call longtest.SkipUnlessEnabled and run in make bench-all.
bench:
	@tools/section "each benchmark once" "Run the failing benchmark alone: go test -run '^$$' -bench NAME -benchtime 1x ./its/package" \
		bash -c 'go test -vet=off -run "^$$" -bench . -benchtime 1x -timeout 20m $$(tools/with Benchmark $(PACKAGES))'

bench-all:
	@SERVICE_LONG_TESTS=1 $(MAKE) bench

long:
	@tools/section "tests in their long form" "Run the failing test alone: SERVICE_LONG_TESTS=1 go test -run NAME ./its/package" \
		env SERVICE_LONG_TESTS=1 go test -vet=off -timeout 120m $(PACKAGES)

# make test only runs the fuzz targets on their stored inputs.
fuzz:
	@tools/section "each fuzz target, $(FUZZTIME)" \
		"The failing input is now in testdata/fuzz of its package: fix the code and commit the input with it." \
		tools/fuzz $(FUZZTIME) $(PACKAGES)

$(RELEASER):
	@mkdir -p $(CACHE)
	@tools/section "building GoReleaser, once for each version" "The module proxy must be reachable; then run make release again." \
		env CGO_ENABLED=0 go build -modfile=tools/release.mod -trimpath -ldflags '-s -w' -o $@ github.com/goreleaser/goreleaser/v2

# Builds a trial release in dist/: programs and archives for all systems, packages, bills of materials, checksums.
# MACHINES=one builds only for Linux on this processor. Steps that need an account or a missing program are skipped and named.
release: $(RELEASER)
	@tools/section "the release's configuration" "Fix goreleaser.yaml." $(RELEASER) check --quiet
	@tools/section "trial release" "Run: make release, and see what failed above." tools/release $(RELEASER) $(MACHINES)
	@tools/section "trial of the package" "Run: tools/try-package dist/*_amd64.deb" \
		bash -c 'deb=$$(ls dist/*_$$(go env GOARCH).deb) && tools/try-package "$$deb"'

tree-before:
	@tools/tree > $(TREE)

clean-tree:
	@tools/section "the work tree is unchanged" "The tests left the files above. They may write only below t.TempDir()." \
		bash -c 'tools/tree | diff $(TREE) -'
