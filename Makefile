# make test      everything the build server checks; see CONTRIBUTING.md
# make build     the program, in bin/
# make release   a release, tried, in dist/
# Each part of the tests is a target of its own: fmt mod vet cross lint unit race bench fuzz release.

SHELL := /bin/bash
.NOTPARALLEL:
.DELETE_ON_ERROR:

PACKAGES  ?= ./...
FUZZTIME  ?= 2s
MACHINES  ?= all
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null)

CACHE     := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/service-tools
# A linter is of one version and one Go: both are in its name.
LINTER    := $(CACHE)/golangci-lint-$(shell { cat tools/go.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
# The same for the program that makes releases.
RELEASER  := $(CACHE)/goreleaser-$(shell { cat tools/release.mod; go env GOVERSION; } | cksum | cut -d' ' -f1)
TREE      := $(shell git rev-parse --git-path service-tree-before)

.PHONY: build test setup tools fmt mod vet cross lint unit race bench fuzz release tree-before clean-tree

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/service ./cmd/service

# On the build server, of two systems and one kind of processor: the others cost as much again.
test: MACHINES := one
test: tree-before setup fmt mod vet lint unit race bench fuzz release clean-tree
	@echo; echo "=== all fine"

setup:
	@tools/section "what the tests need" "Install what is named above, then run make test again." tools/setup

fmt:
	@tools/section "format" "Run: gofmt -w on the files named above." \
		bash -c 'files=$$(gofmt -l .) && [ -z "$$files" ] || { echo "$$files"; exit 1; }'

mod:
	@tools/section "modules" "Run: go mod tidy, and look at what it changed." \
		go mod tidy -diff

vet:
	@tools/section "vet" "Mend what go vet names above." go vet $(PACKAGES)
	@tools/section "vet of what a tag brings in" "Mend what go vet names above." go vet -tags unipdf ./evidence/parse

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

# The other systems that it is released for: what is theirs alone is looked at, with its tests. It
# takes as long as all the tests, for what seldom changes: the build server only compiles it, in the release.
cross:
	@for system in windows darwin; do \
		tools/section "vet for $$system" "Mend what go vet names above; what a system lacks belongs into a file of its own (_unix.go, _other.go)." \
			env GOOS=$$system CGO_ENABLED=0 GOFLAGS="$$(go env GOFLAGS) -trimpath" go vet $(PACKAGES) || exit 1; \
	done
	@tools/section "vet for another processor" "Mend what go vet names above." env GOARCH=arm64 CGO_ENABLED=0 go vet ./evidence/search

# A release as it would be, in dist/: programs and archives of all systems, packages, lists of
# parts, checksums. MACHINES=one leaves out macOS and processors of another kind. What needs an account or a program that is not here is left out, by name.
release: $(RELEASER)
	@tools/section "the release's configuration" "Mend goreleaser.yaml." $(RELEASER) check --quiet
	@tools/section "a release, tried" "Run: make release, and look at what failed above." tools/release $(RELEASER) $(MACHINES)
	@tools/section "the package, tried" "Run: tools/try-package dist/*_amd64.deb" \
		bash -c 'deb=$$(ls dist/*_$$(go env GOARCH).deb) && tools/try-package "$$deb"'

unit:
	@tools/section "tests" "Run the failing test alone: go test -run NAME ./its/package" \
		go test -timeout 30m $(PACKAGES)

# Once more, where there is more than one goroutine, without the long tests of one. The
# detector needs a C compiler.
race:
	@if command -v cc >/dev/null || command -v gcc >/dev/null; then \
		tools/section "tests with the race detector" "Run the failing test alone: go test -race -run NAME ./its/package" \
			go test -race -short -timeout 30m $$(tools/concurrent); \
	else echo; echo "=== no C compiler: the race detector is left out"; fi

bench:
	@tools/section "each benchmark once" "A benchmark failed: go test -run '^$$' -bench NAME -benchtime 1x ./its/package" \
		go test -run '^$$' -bench . -benchtime 1x -timeout 20m $(PACKAGES)

fuzz:
	@tools/section "each fuzz target, $(FUZZTIME)" \
		"The failing input is now below testdata/fuzz of its package: mend the code and commit the input with it." \
		tools/fuzz $(FUZZTIME) $(PACKAGES)

tree-before:
	@tools/tree > $(TREE)

clean-tree:
	@tools/section "the work tree is as before" "The tests left the files above. They may write only below t.TempDir()." \
		bash -c 'tools/tree | diff $(TREE) -'
