# make test      everything the build server checks; see CONTRIBUTING.md
# make build     the program, in bin/
# make release   a release, tried, in dist/
# Each part of the tests is a target of its own: fmt mod vet cross lint unit race bench fuzz release released.

SHELL := /bin/bash
.NOTPARALLEL:
.DELETE_ON_ERROR:

PACKAGES  ?= ./...
FUZZTIME  ?= 2s
GUIDED    ?= yes
MACHINES  ?= all
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null)

CACHE     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/service-tools
# A linter is of one version and one Go: both are in its name.
LINTER    := $(CACHE)/golangci-lint-$(shell { cat tools/go.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
# The same for the program that makes releases.
RELEASER  := $(CACHE)/goreleaser-$(shell { cat tools/release.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
TREE      := $(shell git rev-parse --git-path service-tree-before)

.PHONY: build test setup tools fmt mod vet cross lint unit race bench fuzz release try-release released tree-before clean-tree

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/service ./cmd/service

# What is tested is compiled as what is released, once for all parts but the race detector's.
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath

test: GUIDED := no
test: tree-before setup fmt mod lint vet unit race bench fuzz released clean-tree
	@echo; echo "=== all fine"

setup:
	@tools/section "what the tests need" "Install what is named above, then run make test again." tools/setup

fmt:
	@tools/section "format" "Run: gofmt -w on the files named above." \
		bash -c 'files=$$(gofmt -l .) && [ -z "$$files" ] || { echo "$$files"; exit 1; }'

mod:
	@tools/section "modules" "Run: go mod tidy, and look at what it changed." \
		go mod tidy -diff

# What go vet looks for is a part of lint, which reads all dependencies for it only once.
vet:
	@tools/section "vet of what a tag brings in" "Mend what go vet names above." go vet -tags unipdf ./engine/evidence/parse

$(LINTER):
	@mkdir -p $(CACHE)
	@tools/section "building the linter, once for this version" "The module proxy must be reachable; then run make lint again." \
		go build -modfile=tools/go.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(RELEASER):
	@mkdir -p $(CACHE)
	@tools/section "building what makes releases, once for this version" "The module proxy must be reachable; then run make release again." \
		env CGO_ENABLED=0 go build -modfile=tools/release.mod -trimpath -ldflags '-s -w' -o $@ github.com/goreleaser/goreleaser/v2

tools: $(LINTER) $(RELEASER)

lint: $(LINTER)
	@tools/section "lint" "Mend what is named above. An exception is //nolint:rule // reason, on its line." \
		$(LINTER) run $(PACKAGES)

# The other systems that it is released for: what is theirs alone is looked at, with its tests. It takes as
# long as all the tests; internal/layout has a test that only looks whether all types are right there.
cross:
	@for system in windows darwin; do \
		tools/section "vet for $$system" "Mend what go vet names above; what a system lacks belongs into a file of its own (_unix.go, _other.go)." \
			env GOOS=$$system CGO_ENABLED=0 go vet $(PACKAGES) || exit 1; \
	done
	@tools/section "vet for another processor" "Mend what go vet names above." env GOARCH=arm64 CGO_ENABLED=0 go vet ./engine/evidence/search

# A release as it would be, in dist/: programs and archives of all systems, packages, lists of
# parts, checksums. MACHINES=one leaves out all but Linux on this kind of processor. What needs an account or a program
# that is not here is left out, by name. packaging/tried says of which definition it was tried last.
release: try-release
	@tools/tried > packaging/tried

try-release: $(RELEASER)
	@tools/section "the release's configuration" "Mend goreleaser.yaml." $(RELEASER) check --quiet
	@tools/section "a release, tried" "Run: make release, and look at what failed above." tools/release $(RELEASER) $(MACHINES)
	@tools/section "the package, tried" "Run: tools/try-package dist/*_amd64.deb" \
		bash -c 'deb=$$(ls dist/*_$$(go env GOARCH).deb) && tools/try-package "$$deb"'

# The same where the definition is not the one that was tried last: building what makes releases takes eight minutes.
released:
	@if tools/tried | cmp -s - packaging/tried; then \
		echo; echo "=== a release as it is defined was tried when packaging/tried was written"; \
	else \
		$(MAKE) try-release MACHINES=one && echo "commit packaging/tried after make release, so that this is not tried each time"; \
	fi

unit:
	@tools/section "tests" "Run the failing test alone: go test -run NAME ./its/package" \
		go test -vet=off -timeout 30m $(PACKAGES)

# Once more, where there is more than one goroutine, without the long tests of one. The
# detector needs a C compiler.
race:
	@if command -v cc >/dev/null || command -v gcc >/dev/null; then \
		tools/section "tests with the race detector" "Run the failing test alone: go test -race -run NAME ./its/package" \
			env CGO_ENABLED=1 go test -race -short -vet=off -timeout 30m $$(tools/concurrent); \
	else echo; echo "=== no C compiler: the race detector is left out"; fi

bench:
	@tools/section "each benchmark once" "A benchmark failed: go test -run '^$$' -bench NAME -benchtime 1x ./its/package" \
		go test -vet=off -run '^$$' -bench . -benchtime 1x -timeout 20m $$(tools/with Benchmark $(PACKAGES))

# For seconds the fuzzer finds as much without being told what it reaches, and the code need not be
# compiled once more for it: GUIDED=no.
fuzz:
	@tools/section "each fuzz target, $(FUZZTIME)" \
		"The failing input is now below testdata/fuzz of its package: mend the code and commit the input with it." \
		env GUIDED=$(GUIDED) tools/fuzz $(FUZZTIME) $(PACKAGES)

tree-before:
	@tools/tree > $(TREE)

clean-tree:
	@tools/section "the work tree is as before" "The tests left the files above. They may write only below t.TempDir()." \
		bash -c 'tools/tree | diff $(TREE) -'
