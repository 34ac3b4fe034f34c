# Everything that is done to Tenbin by hand or by CI. `make` lists the targets.

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(abspath $(TARGET_DIR))/tools
export PATH := $(TOOLS)/bin:$(PATH)

GUNGRAUN_VERSION := 0.20.0
DENY_VERSION := 0.20.2
FUZZ_VERSION := 0.13.2
FUZZ_TARGETS := http1 histogram_decode plan
FUZZ_SECONDS := 30

STUDIES := thread-pools app-server-limits app-servers

# In the order in which they are likely to say something.
STEPS := fmt clippy doc tools deny instructions fuzz unit

.PHONY: help build demo studies-quick bench-http test $(STEPS) advisories

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

build: ## Build the program for use: target/release/tenbin
	cargo build --release --locked -p tenbin

demo: build ## Weigh eight settings of the built-in target; takes a minute and a half
	$(TARGET_DIR)/release/tenbin run plans/demo.yaml

studies-quick: build ## Run the short form of every study on real servers, which it installs where they are missing; 7 minutes
	scripts/systems.sh
	for plan in $(STUDIES); do \
	    $(TARGET_DIR)/release/tenbin run plans/$$plan.yaml --quick || exit 1; \
	done

bench-http: build ## Compare with other load testers on one nginx, in about 20 minutes; OHA=1 installs oha first
	bench/http/install-peers.sh $(TOOLS) $(OHA)
	cargo build --release --locked -p bench-http
	$(TARGET_DIR)/release/bench-http --tenbin $(TARGET_DIR)/release/tenbin --json $(TARGET_DIR)/bench-http.json $(BENCH_FLAGS)

test: ## Run every check, one after the other, and say how long each took
	@for step in $(STEPS); do \
	    begun=$$(date +%s); \
	    echo "== $$step"; \
	    $(MAKE) --no-print-directory $$step || { echo "== $$step failed" >&2; exit 1; }; \
	    echo "== $$step took $$(( $$(date +%s) - begun )) s"; \
	done

tools: ## Install what the checks need and is missing
	scripts/systems.sh
	scripts/tools.sh $(TOOLS) cargo-deny=$(DENY_VERSION) cargo-fuzz=$(FUZZ_VERSION) gungraun-runner=$(GUNGRAUN_VERSION)
	cargo fetch --locked

fmt: ## Is everything formatted?
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check

clippy: ## Does the compiler, or clippy, have something to say?
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The doc comments of the program itself are its help text.
doc: ## Is the documentation of the code whole?
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude tenbin --no-deps --locked --quiet

deny: ## Licences, banned crates, sources; needs no network
	cargo deny --offline check licenses bans sources

advisories: ## Known faults of dependencies; fetches the RustSec database
	cargo deny check advisories

instructions: ## Does the hot path need more instructions than crates/house/benches/instructions/bounds.rs allows?
	cargo bench --locked --quiet -p house --bench instructions

fuzz: ## Feed every fuzz target for FUZZ_SECONDS
	for target in $(FUZZ_TARGETS); do \
	    RUSTC_BOOTSTRAP=1 cargo fuzz run $$target -s none -- \
	        -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1 || exit 1; \
	done

unit: ## All tests, the rules of the house among them
	cargo test --workspace --locked
