# Everything here can be repeated, and works without a network once it has run with one.
#
# Settings:  make run ARGS='--listen 127.0.0.1:9000'    further flags for `forecourt up`
#            make run PROFILE=release                   as fast as it is shipped; takes longer to build

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

ARGS ?=
# The profile that `make test` builds as well. A first `make run` takes half as long with it as with `release`,
# and one after a change three seconds instead of fifty; what it answers is the same.
PROFILE ?= dev

# How many times as many cases the randomised tests try in `make soak`.
SOAK ?= 20

# The lock file decides the versions; cargo uses no network when all of them have been downloaded.
LOCKED := --locked
target := $(or $(CARGO_TARGET_DIR),target)
folder = $(target)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
cargo := scripts/bootstrap rust -- cargo

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

# --workspace although one binary is wanted: cargo then turns on the same features of the dependencies as for the
# tests, and the two share what they compile.
.PHONY: run
run: ## build the platform and start it with three demo dealers; stop it with Ctrl-C
	@scripts/bootstrap rust crates $(if $(DATABASE_URL),,postgres)
	@$(cargo) build $(LOCKED) --workspace --bin forecourt --profile $(PROFILE)
	@exec scripts/bootstrap $(if $(DATABASE_URL),,postgres) -- $(folder)/forecourt up --demo $(ARGS)

.PHONY: test
test: ## all tests: the workspace's, then the official SDKs of A2A and MCP and a browser against a running platform
	@scripts/bootstrap rust crates postgres clients browser
	@$(cargo) build $(LOCKED) --workspace --bins --tests
	@scripts/bootstrap rust postgres -- cargo test $(LOCKED) --workspace
	@rm -rf "$${TMPDIR:-/tmp}/forecourt-tests-$$(id -u)" || true
	@scripts/client-tests $(target)/debug/forecourt

# Optimised, for the sake of numbers, with the checks of a debug build: answers against their schemas, overflow.
.PHONY: soak
soak: ## the randomised tests, SOAK times as long (make soak SOAK=50); hours are fine
	@scripts/bootstrap rust crates postgres
	@FORECOURT_SOAK=$(SOAK) CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true scripts/bootstrap rust postgres -- \
		cargo test $(LOCKED) --workspace --release --target-dir $(target)/soak

# How long each target runs, and which ones do. Inputs that were worth keeping lie in $(target)/fuzz/corpus and are
# begun with the next time; one that breaks something is written beside them.
FUZZ_SECONDS ?= 60
FUZZ ?= front cursor requests answers feeds published

# The sanitizer would need a nightly toolchain, and finds what safe Rust does not do anyway.
.PHONY: fuzz
fuzz: ## libFuzzer on the targets of tests/fuzz, FUZZ_SECONDS each (make fuzz FUZZ=front FUZZ_SECONDS=3600)
	@scripts/bootstrap rust crates fuzz
	@$(cargo) run $(LOCKED) --quiet --package fuzz-targets --bin seeds -- $(target)/fuzz/corpus
	@for name in $(FUZZ); do \
		echo "--- $$name, $(FUZZ_SECONDS) s"; \
		scripts/bootstrap fuzz -- cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none --features libfuzzer \
			--target-dir $(target)/fuzz/build "$$name" "$(abspath $(target))/fuzz/corpus/$$name" -- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=4096 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix="$(abspath $(target))/fuzz/$$name-"; \
	done

# What is measured is built as it is shipped; `bench --help` tells what else it can do.
BENCH ?=

.PHONY: bench
bench: ## the performance goals, measured on this machine in under 15 minutes (make bench BENCH='--only G1,G7')
	@scripts/bootstrap rust crates postgres python node
	@$(cargo) build $(LOCKED) --profile dist -p server -p bench
	@exec scripts/bootstrap postgres python node -- $(target)/dist/bench all $(BENCH)

# Bare addresses stand in the comments of flags, which are the text of --help; links to private items lead
# somewhere here, where private items are documented as well.
.PHONY: lint
lint: ## formatting, clippy, documentation, licences, crate directions, checked queries
	@scripts/bootstrap rust crates postgres
	@$(cargo) fmt --all --check
	@$(cargo) clippy $(LOCKED) --workspace --all-targets -- -D warnings
	@RUSTDOCFLAGS='-D warnings -A rustdoc::bare_urls -A rustdoc::private_intra_doc_links' \
		$(cargo) doc $(LOCKED) --quiet --workspace --no-deps --document-private-items
	@$(cargo) xtask check
	@scripts/bootstrap rust postgres -- cargo xtask prepare --check
