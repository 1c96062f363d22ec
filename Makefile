# Every step of CI is a target here, so that each can be run locally. `make help` lists them.
CARGO ?= cargo
INSTALL ?= install
PREFIX ?= /usr/local
DESTDIR ?=
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR

bindir = $(DESTDIR)$(PREFIX)/bin
man1dir = $(DESTDIR)$(PREFIX)/share/man/man1
man7dir = $(DESTDIR)$(PREFIX)/share/man/man7
bashdir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
schemadir = $(DESTDIR)$(PREFIX)/share/haul/schema

release = $(CARGO_TARGET_DIR)/release/haul
generated = $(CARGO_TARGET_DIR)/generated
# The commands with a man page haul-NAME(1), in addition to haul(1).
pages = config copy dd finish journal list manifest map pattern plan profile rescue sg_dd status tune verify
# The guides haul-NAME(7).
guides = fleet
schemas = $(wildcard docs/schema/*.json)

# What `make bench` measures: SCENARIO="ram stream" QUICK=1 ROUNDS=9 SEED=7 ONLY="haul qemu-img".
SCENARIO ?=
QUICK ?=
ROUNDS ?=
ONLY ?=
# Only for SCENARIO=zoo: SEEDS=7000..7006 SIZE=256 (MiB).
SEEDS ?=
SIZE ?=
bench_options = $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SIZE),--zoo-size $(SIZE)) $(if $(SEED),--seed $(SEED)) $(if $(QUICK),--quick) $(if $(ROUNDS),--rounds $(ROUNDS)) $(foreach name,$(ONLY),--only $(name))

# The debug build that the tests have too. Without examples, dependencies would have fewer features: another build.
tested_build = $(CARGO) build --locked --lib --bins --examples

.DEFAULT_GOAL := build
.PHONY: all build demo picture test test-long fleet-test lab-test bench bench-pump bench-stages peers check fmt-check tidy clippy doc-check \
	lint-scripts doc man completions generate install uninstall deps coverage clean help \
	static deb tarball oci sbom packages dist package-test package-deps reproducible msrv deny audit

all: build man completions ## The release binary, the man pages and the completions

build: ## The release binary; the same commit and compiler give the same bytes in any directory
	CARGO="$(CARGO)" packaging/build

demo: ## Copy one generated disk to another, verify it with cmp, clean up
	@haul=$$(CARGO="$(CARGO)" scripts/haul-for-demo) && scripts/demo "$$haul"

picture: build ## Renew the README's picture of that copy, and the one of a copy by several workers; needs tmux and python3
	scripts/picture $(release) >$(CARGO_TARGET_DIR)/copy.svg
	mv $(CARGO_TARGET_DIR)/copy.svg docs/images/copy.svg
	PICTURE_COLUMNS=96 scripts/picture $(release) scripts/fleet-demo >$(CARGO_TARGET_DIR)/fleet.svg
	mv $(CARGO_TARGET_DIR)/fleet.svg docs/images/fleet.svg

# Most tests wait for devices, timers and other programs, so there are more threads than processors.
test: export RUST_TEST_THREADS ?= $(shell expr 3 '*' "$$(nproc)")
test: deps ## Install the missing packages that the tests need, then run all tests except the laboratory; COVERAGE=1 prints the coverage too
	scripts/left-behind $(if $(COVERAGE),scripts/coverage,scripts/run-tests)

# A guest can run for minutes.
lab-test: export HANG_AFTER_S ?= 1500
lab-test: deps ## The laboratory, in virtual machines: tests that need real drivers, and the duration of copies
	scripts/left-behind $(CARGO) test --locked --no-fail-fast --test lab -- --nocapture

bench-pump: ## The cost of a block in the pump, with endpoints without cost
	$(CARGO) bench --locked --bench pump

bench-stages: ## The cost of stages that process every byte: the test pattern, comparing
	$(CARGO) bench --locked --bench stages

test-long: deps ## Compare haul dd and haul sg_dd with the originals on many more random command lines, and all of haul with a model of it; kill copies, cut their power; fuzz, 60 s each
	HAUL_DD_CASES=5000 HAUL_DD_SEED=$$(date +%s) $(CARGO) test --locked --test fronts -- --nocapture dd_differential:: dd_devices:: --skip sg_dd
	HAUL_SG_CASES=2000 HAUL_SG_SEED=$$(date +%s) $(CARGO) test --locked --test fronts sg_dd_differential -- --nocapture
	HAUL_FUZZ_RUNS=2000 HAUL_FUZZ_SEED=$$(date +%s) $(CARGO) test --locked --test command_lines -- --nocapture
	HAUL_CRASH_KILLS=400 HAUL_CRASH_SEED=$$(date +%s) $(CARGO) test --locked --test cli -- --nocapture resume_crashes:: compressed_crashes::
	HAUL_RESCUE_KILLS=200 HAUL_RESCUE_SEED=$$(date +%s) $(CARGO) test --locked --test cli rescue_kills -- --nocapture
	RESCUE_SEEDS=100..130 $(CARGO) test --locked --test bench rescue_race -- --nocapture
	$(tested_build) && scripts/ddrescue-suite
	HAUL_TUNE_KILLS=200 HAUL_TUNE_SEED=$$(date +%s) $(CARGO) test --locked --test cli tune_write::killed -- --nocapture
	HAUL_FLEET_RUNS=100 HAUL_FLEET_PAUSE_MS=2000 HAUL_FLEET_SPLITS=20 HAUL_FLEET_SEED=$$(date +%s) $(CARGO) test --locked --test cli -- --nocapture fleet_kills::
	HAUL_POWER_CUTS=400 HAUL_POWER_SEED=$$(date +%s) $(CARGO) test --locked --test cli power_cuts -- --nocapture
	scripts/fuzz 60

check: fmt-check tidy clippy doc-check lint-scripts ## Format, rules of the tree, lints and documentation; warnings are errors

fmt-check: ## The code is formatted
	$(CARGO) fmt --all --check

# It uses only the standard library, so it is compiled alone: seconds, where `cargo test --test tidy` compiles haul.
tidy: ## The source tree keeps its rules (tests/tidy)
	mkdir -p $(CARGO_TARGET_DIR)
	CARGO_MANIFEST_DIR=$(CURDIR) rustc --test --edition 2024 -C opt-level=1 tests/tidy/main.rs -o $(CARGO_TARGET_DIR)/tidy
	$(CARGO_TARGET_DIR)/tidy --quiet

clippy: ## No lint warns, in the tests that are run by name too; once more without tests, where unused items are found, with all features and with none
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) clippy --locked --test lab --test packages -- -D warnings
	$(CARGO) clippy -p haul --locked --lib --bins -- -D warnings
	$(CARGO) clippy -p haul --locked --no-default-features --lib --bins -- -D warnings

doc-check: ## The documentation builds without a warning, private items included
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --locked --no-deps --document-private-items

lint-scripts: ## The shell scripts pass shellcheck, if it is installed
	@if command -v shellcheck >/dev/null; then shellcheck -x .ci/run $$(grep -lsE '^#!.*sh$$' scripts/* packaging/*) && \
	shellcheck -x -P SCRIPTDIR lab/vmlab lab/*.sh lab/proofs/*.sh && shellcheck -s dash lab/guest-init; \
	else echo "shellcheck is not installed: scripts are not checked"; fi

doc: ## The documentation of the library, in target/doc
	$(CARGO) doc --workspace --locked --no-deps --document-private-items

man: build ## The man pages, in target/generated
	mkdir -p $(generated)
	$(release) generate man >$(generated)/haul.1
	set -e; for page in $(pages); do $(release) generate man-$$page >$(generated)/haul-$$page.1; done
	set -e; for page in $(guides); do $(release) generate man-$$page >$(generated)/haul-$$page.7; done

completions: build ## Completions for bash, zsh and fish, in target/generated
	mkdir -p $(generated)
	$(release) generate bash >$(generated)/haul.bash
	$(release) generate zsh >$(generated)/_haul
	$(release) generate fish >$(generated)/haul.fish

generate: man completions ## Renew the checked-in man pages and completions in contrib
	mkdir -p contrib/completions
	cp $(generated)/haul.1 $(pages:%=$(generated)/haul-%.1) $(guides:%=$(generated)/haul-%.7) contrib/
	cp $(generated)/haul.bash $(generated)/_haul $(generated)/haul.fish contrib/completions/

# sudo often removes cargo from PATH; the existing build is installed then.
install: ## Install below PREFIX (/usr/local), staged in DESTDIR
	@if command -v $(CARGO) >/dev/null; then $(MAKE) build; \
	elif [ ! -x $(release) ]; then echo "$(release) does not exist; run make first, as a user who has cargo"; exit 1; fi
	$(INSTALL) -d $(bindir) $(man1dir) $(man7dir) $(bashdir) $(zshdir) $(fishdir) $(schemadir)
	$(INSTALL) -m 755 $(release) $(bindir)/haul
	$(release) generate man >$(man1dir)/haul.1
	set -e; for page in $(pages); do $(release) generate man-$$page >$(man1dir)/haul-$$page.1; done
	set -e; for page in $(guides); do $(release) generate man-$$page >$(man7dir)/haul-$$page.7; done
	ln -sf haul-sg_dd.1 $(man1dir)/haul-sgp_dd.1
	ln -sf haul-sg_dd.1 $(man1dir)/haul-sgm_dd.1
	$(release) generate bash >$(bashdir)/haul
	$(release) generate zsh >$(zshdir)/_haul
	$(release) generate fish >$(fishdir)/haul.fish
	$(INSTALL) -m 644 $(schemas) $(schemadir)

uninstall: ## Remove the installed files
	rm -f $(bindir)/haul $(bashdir)/haul $(zshdir)/_haul $(fishdir)/haul.fish
	rm -f $(man1dir)/haul.1 $(pages:%=$(man1dir)/haul-%.1) $(man1dir)/haul-sgp_dd.1 $(man1dir)/haul-sgm_dd.1
	rm -f $(guides:%=$(man7dir)/haul-%.7)
	rm -rf $(DESTDIR)$(PREFIX)/share/haul

deps: ## Install the missing Debian packages that the tests use
	scripts/install-test-deps

fleet-test: ## Copies by many workers on a temporary Slurm; needs root
	scripts/install-fleet-deps
	$(tested_build)
	scripts/left-behind scripts/fleet-test $(CARGO_TARGET_DIR)/debug/haul
	scripts/left-behind scripts/check-jobs $(CARGO_TARGET_DIR)/debug/haul

coverage: deps ## Run the same tests instrumented, then print the code coverage
	scripts/left-behind scripts/coverage

bench: build peers ## Measure against the peers and the limit; SCENARIO="ram disk" QUICK=1 ROUNDS=N ONLY="name"; needs root
	$(tested_build)
	$(CARGO_TARGET_DIR)/debug/haul-bench --haul $(release) $(bench_options) $(SCENARIO)

static: ## The release binary and target/static/haul, which needs no shared library
	CARGO="$(CARGO)" packaging/build --static

deb: build package-deps ## The Debian package, in target/dist
	CARGO="$(CARGO)" packaging/deb

tarball: static package-deps ## The static binary with man pages and completions, in target/dist
	CARGO="$(CARGO)" packaging/tarball

oci: static package-deps ## An OCI image of the static binary alone, in target/dist
	CARGO="$(CARGO)" packaging/oci

sbom: package-deps ## A bill of materials of the dependencies (CycloneDX), in target/dist
	CARGO="$(CARGO)" packaging/sbom

packages: deb tarball oci ## The Debian package, the tarball and the OCI image, in target/dist

dist: packages sbom ## All packages, the bill of materials and their checksums, in target/dist
	packaging/checksums

package-test: packages ## Install, run and remove the packages in separate root directories; needs root
	scripts/left-behind $(CARGO) test --locked --no-fail-fast --test packages -- --nocapture

package-deps: ## Install the missing Debian packages for making and testing packages
	scripts/install-package-deps

reproducible: dist ## Make all packages again in another directory, and compare the bytes
	packaging/rebuild

peers: ## Install the missing Debian packages of the peers
	scripts/install-bench-peers

msrv: ## The library and the binary build with the oldest Rust that Cargo.toml allows
	scripts/msrv

deny: ## Licenses, sources and duplicates of the dependencies (deny.toml); installs cargo-deny into target/tools
	$$(scripts/cargo-tool cargo-deny)/cargo-deny --locked check bans licenses sources

audit: ## Known vulnerabilities of the dependencies; installs cargo-audit into target/tools, and fetches the advisories
	$$(scripts/cargo-tool cargo-audit)/cargo-audit audit --deny warnings

clean: ## Remove everything that was built
	$(CARGO) clean

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
