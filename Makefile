# Short names for longer commands; `make` alone lists them. Each does its own setup.

SECONDS_EACH ?= 60
SWIFT_CODE = Package.swift Sources Tests Fuzz $(wildcard Benchmarks Examples Snippets)

SEEDS ?= 10000

PORTABLE = --traits default,PortableRuntime --scratch-path .build/portable

PREFIX ?= /usr/local

.PHONY: help setup program install uninstall dist deb check-package check-dependency release cut demo test lint fuzz bench docs \
    docs-open docs-check sanitize simulate variants interop system platforms outages

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

setup: ## check for Swift 6.2, and install libssl-dev if it is missing
	@.ci/setup

demo: setup ## run three processes that find each other, link and exchange data
	swift run -c release multipeer-demo

program: ## build multipeer as it is shipped, in .build/package: one file that needs the C library alone
	@.ci/setup python3 readelf=binutils
	.packaging/build

install: ## install multipeer, its manual and completions below PREFIX (/usr/local), in DESTDIR if it is set
	@[ -x .build/package/multipeer ] || .packaging/build
	.packaging/stage "$(DESTDIR)" "$(PREFIX)"

uninstall: ## remove what install has installed
	.packaging/stage --remove "$(DESTDIR)" "$(PREFIX)"

dist: program ## make the archive that is published, with checksums, in .build/dist
	.packaging/dist

deb: ## make the Debian package, in .build/dist
	@.ci/setup dh=debhelper dpkg-buildpackage=dpkg-dev g++=build-essential
	@$(MAKE) program
	.packaging/deb

check-package: deb ## install the package in two bare roots of Debian 12, and use it there (as root, with debootstrap)
	.packaging/check-shells
	.packaging/check-debian

check-dependency: setup ## build a new package that depends on this one by URL and version
	.packaging/check-dependency

release: setup ## do all that a release needs, and write a report: SEEDS (1,000,000), MINUTES (90); QUICK=yes tries the chain
	.packaging/release $(if $(QUICK),--quick)

cut: ## set the date of this version in CHANGELOG.md
	.packaging/cut

test: setup ## build everything and run the tests
	swift build --build-tests
	swift test --disable-xctest $(TEST_FLAGS)

platforms: setup ## run the tests on the runtime for other systems, and compile the C code for them
	Tests/Platforms/run
	swift build $(PORTABLE) --build-tests
	swift test $(PORTABLE) --skip-build --disable-xctest $(TEST_FLAGS)

lint: setup ## check formatting and style rules, strictly
	swift format lint --strict --recursive --parallel $(SWIFT_CODE)

fuzz: setup ## run each fuzz harness for SECONDS_EACH (60) seconds, or all of them within MINUTES
	Fuzz/run $(if $(MINUTES),$(MINUTES)m,$(SECONDS_EACH))

bench: setup ## compare performance with a small C program on the same OpenSSL
	Benchmarks/run $(BENCH_FLAGS)

docs: setup ## build the documentation as one site in .build/docs, with warnings as errors, and check its links
	.ci/docs

docs-open: ## serve the site on 127.0.0.1, and print its address
	@.ci/docs open

docs-check: ## load every page of the site in Chromium, and report errors of its console
	@.ci/docs check $(DOCS_FLAGS)

sanitize: setup ## run the tests under ThreadSanitizer and AddressSanitizer
	.ci/sanitize

simulate: setup ## simulate SEEDS (10000) meshes in virtual time, with temporary and with permanent faults
	swift run -c release simulate --seeds $(SEEDS) --mode both

variants: setup ## break the core on purpose in more than ninety ways, and report which seed detects each
	Tests/Simulation/variants

system: setup ## test discovery by the system's responder, with avahi-daemon, in network namespaces
	Tests/Interop/build-system
	.ci/release multipeer MultipeerNeighbour
	Tests/Interop/run system_

interop: setup ## test discovery with avahi, systemd-resolved and python-zeroconf, in network namespaces
	.ci/release multipeer
	Tests/Interop/run $(INTEROP_FLAGS)

outages: setup ## run real programs on networks that fail, in namespaces, as root: OUTAGES_FLAGS="--quick", "--full", names…
	@.ci/setup python3 ip=iproute2 cc=gcc
	for product in MultipeerWitness Chat StartChat port-chat; do swift build --product $$product || exit 1; done
	MULTIPEER_PRODUCTS=$${MULTIPEER_PRODUCTS:-.build/debug} Tests/Outages/run $(OUTAGES_FLAGS)
