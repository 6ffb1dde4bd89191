# Short names for longer commands; `make` alone lists them. Each does its own set-up.

SECONDS_EACH ?= 60
SWIFT_CODE = Package.swift Sources Tests Fuzz $(wildcard Benchmarks Examples Snippets)

SEEDS ?= 10000

.PHONY: help setup demo test lint fuzz bench docs sanitize simulate variants interop

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

setup: ## check for Swift 6.2, install libssl-dev when it is missing
	@.ci/setup

demo: setup ## three real processes find each other, link and talk
	swift run -c release multipeer-demo

test: setup ## build everything and run the tests
	swift build --build-tests
	swift test --disable-xctest $(TEST_FLAGS)

lint: setup ## formatting and style rules, strictly
	swift format lint --strict --recursive --parallel $(SWIFT_CODE)

fuzz: setup ## each harness for SECONDS_EACH (60) seconds, or all of them for MINUTES together
	Fuzz/run $(if $(MINUTES),$(MINUTES)m,$(SECONDS_EACH))

bench: setup ## compare with a small C program on the same OpenSSL
	Benchmarks/run

docs: setup ## the documentation of the libraries, warnings as errors, in .build/docs, docs-connectivity, docs-actors, docs-simulation and docs-web
	.ci/docs

sanitize: setup ## the tests under ThreadSanitizer and AddressSanitizer
	.ci/sanitize

simulate: setup ## meshes in virtual time, SEEDS (10000) of them with faults that end and with faults that do not
	swift run -c release simulate --seeds $(SEEDS) --mode both

variants: setup ## break the core on purpose in more than ninety ways: which seed notices each of them
	Tests/Simulation/variants

interop: setup ## discovery with avahi, systemd-resolved and python-zeroconf, in network namespaces
	swift build -c release --product multipeer
	Tests/Interop/run $(INTEROP_FLAGS)
