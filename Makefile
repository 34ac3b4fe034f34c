# Everything that is done to Tenbin by hand or by CI. `make` lists the targets.

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(abspath $(TARGET_DIR))/tools
export PATH := $(TOOLS)/bin:$(PATH)

DENY_VERSION := 0.20.2
FUZZ_VERSION := 0.13.2
ZIGBUILD_VERSION := 0.24.0
ZIG_VERSION := 0.17.1
FUZZ_TARGETS := interval_decode logs plan protocol sessions
FUZZ_SECONDS := 20

STUDIES := thread-pools reload-nginx upgrade-unicorn hot-deploy app-server-limits app-servers frameworks http-server-rewrite \
    postgresql-settings postgresql-versions postgresql-failover databases-postcodes databases-postcodes-bulk \
    innodb-memory-and-disk backup-lock caches document-stores replay-two-versions

# Dependencies of the page of the HTML report, which Cargo embeds as ui/dist.
NODE_MODULES := ui/node_modules/.package-lock.json

# Lints, documentation, unit tests, planted truths and pages share one build.
CHECKED := $(TARGET_DIR)/checked

# Their order is in scripts/checks.sh.
STEPS := ui-check fmt clippy doc programs simulated tools instructions unit browser truth why-short

.PHONY: help ui build demo dist dist-check studies-quick gallery bench-http bench-sql bench-page bench-proxy truth-full why why-blind screenshots test check explore fuzz steady $(STEPS) advisories

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

ui: $(NODE_MODULES) ## Build the page of the HTML report, ui/dist, from its sources; needs Node.js 20.19 or later
	cd ui && npm run build

$(NODE_MODULES): ui/package-lock.json
	cd ui && npm ci --no-audit --no-fund
	touch $@

build: ## Build the program for use: target/release/tenbin
	cargo build --release --locked -p tenbin

# The oldest C library that the packaged program runs with: that of Debian 10 and RHEL 8.
DIST_GLIBC := 2.28
DIST_TARGET := $(shell uname -m)-unknown-linux-gnu
ZIG := $(TOOLS)/zig/bin

dist: ## Pack the program for other machines of this kind: target/dist gets a tar.gz and a .deb; needs python3-venv
	python3 -m venv $(TOOLS)/zig
	$(ZIG)/pip install --quiet cargo-zigbuild==$(ZIGBUILD_VERSION) ziglang==$(ZIG_VERSION)
	PATH=$(ZIG):$$PATH cargo zigbuild --release --locked -p tenbin --target $(DIST_TARGET).$(DIST_GLIBC)
	mkdir -p $(TARGET_DIR)/dist
	scripts/dist.sh $(TARGET_DIR)/$(DIST_TARGET)/release/tenbin $(TARGET_DIR)/dist

dist-check: ## Install the .deb of target/dist in a new root folder and run the demo there; needs root and mmdebstrap
	scripts/dist-check.sh $(TARGET_DIR)/dist/tenbin_*.deb

demo: build ## Compare four configurations of the built-in target and open the page about it; takes a minute
	$(TARGET_DIR)/release/tenbin run plans/demo.yaml -o $(TARGET_DIR)/demo.html --open

studies-quick: build ## Run the short form of every study on real servers, which it installs where they are missing; 20 minutes
	scripts/systems.sh all
	scripts/databases.sh
	npm ci --prefix plans/frameworks --no-audit --no-fund
	npm ci --prefix plans/postgresql-versions --no-audit --no-fund
	for plan in $(STUDIES); do \
	    $(TARGET_DIR)/release/tenbin run plans/$$plan.yaml --quick || exit 1; \
	done

gallery: build ## Run every comparison of docs/gallery at its shortest length; 20 minutes, with every server that its list names
	scripts/gallery.sh $(TARGET_DIR)/release/tenbin quick

bench-http: build ## Compare with other load testers on one nginx, in about 20 minutes; OHA=1 installs oha first
	bench/http/install-peers.sh $(TOOLS) $(OHA)
	cargo build --release --locked -p bench-http
	$(TARGET_DIR)/release/bench-http --tenbin $(TARGET_DIR)/release/tenbin --json $(TARGET_DIR)/bench-http.json $(BENCH_FLAGS)

bench-sql: build ## Compare with pgbench and sysbench on PostgreSQL and MariaDB, in about 25 minutes
	scripts/databases.sh sysbench
	cargo build --release --locked -p bench-sql
	$(TARGET_DIR)/release/bench-sql --tenbin $(TARGET_DIR)/release/tenbin --json $(TARGET_DIR)/bench-sql.json $(BENCH_FLAGS)

bench-page: build $(NODE_MODULES) ## How large are pages of 200 runs and of 24 hours, and how soon are they painted?
	scripts/browser.sh
	cargo build --release --locked -p bench-page
	bench/page/run.sh $(TARGET_DIR)/release $(TARGET_DIR)/bench-page

bench-proxy: build ## How exact is the delay of the proxy, and how much does it pass on? Takes 90 seconds; needs python3
	scripts/bench-proxy.sh $(TARGET_DIR)/release/tenbin $(TARGET_DIR)/bench-proxy

screenshots: build $(NODE_MODULES) ## Compare three Ruby application servers in seven minutes, and take the pictures of the documentation
	scripts/systems.sh
	scripts/browser.sh
	$(TARGET_DIR)/release/tenbin run plans/app-servers-small.yaml -o $(TARGET_DIR)/app-servers.html
	cd ui && npm run screenshots -- $(abspath $(TARGET_DIR))/app-servers.html $(CURDIR)/docs/images

test: ## Run every check, and report how long each took
	@MAKE="$(MAKE)" scripts/checks.sh $(TARGET_DIR)/checks

tools: ## Install what the checks need and is missing
	scripts/systems.sh
	scripts/databases.sh sysbench
	scripts/planted.sh
	scripts/mongo-java-server.sh $(TOOLS)
	scripts/tools.sh $(TOOLS)
	cargo fetch --locked

ui-check: $(NODE_MODULES) ## Types, style and arithmetic of the page, and whether ui/dist is what its sources make
	cd ui && npm run check && npm test
	cd ui && npm run build -- --logLevel warn --emptyOutDir --outDir $(abspath $(TARGET_DIR))/page
	diff -rq ui/dist $(TARGET_DIR)/page || { echo "ui/dist is older than its sources: run make ui, and commit it" >&2; exit 1; }

fmt: ## Is everything formatted?
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check

clippy: ## Does the compiler, or clippy, have something to say?
	cargo clippy --profile checked --workspace --all-targets --locked -- -D warnings

# The doc comments of the program itself are its help text.
doc: ## Is the documentation of the code whole, and do its examples work?
	RUSTDOCFLAGS="-D warnings" cargo doc --profile checked --workspace --exclude tenbin --no-deps --locked --quiet
	cargo test --profile checked --doc -p target --locked --quiet

advisories: ## Known vulnerabilities of dependencies, and their licences by their texts; fetches the RustSec database and installs cargo-deny
	scripts/tools.sh $(TOOLS) cargo-deny=$(DENY_VERSION)
	cargo deny check

instructions: ## Does the hot path need more instructions than dev/rules/benches/instructions/bounds.rs allows?
	cargo bench --locked --quiet -p rules --bench instructions

FUZZ_RUN := cargo fuzz run {} -s none -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1

fuzz: ## Search for inputs that break a rule, guided by coverage: FUZZ_SECONDS for each kind; ten minutes with the build
	scripts/tools.sh $(TOOLS) cargo-fuzz=$(FUZZ_VERSION)
	RUSTC_BOOTSTRAP=1 cargo fuzz build -s none
	printf '%s\n' $(FUZZ_TARGETS) | RUSTC_BOOTSTRAP=1 xargs -I {} $(FUZZ_RUN)

programs: ## Build every program and every test, as the checks run them
	cargo build --profile checked --workspace --bins --tests --locked

# A fixed seed of the property tests gives a commit the same verdict every time; new inputs come from `make explore` and `make fuzz`.
unit: programs ## All tests, the rules of the workspace among them, 20,000 hostile inputs of each kind, and two comparisons of the gallery
	PROPTEST_RNG_SEED=1 scripts/tests.sh $(TARGET_DIR)/tests --profile checked --workspace
	timeout 120 scripts/gallery.sh $(CHECKED)/tenbin turn

# The default build, which is incremental.
check: ## While you work: format, lints, and tests of the crates that changed since the last commit and of those that depend on them
	scripts/check.sh

explore: programs ## The tests again, with 20,000 new inputs for each property and a million hostile ones of each kind
	PROPTEST_CASES=20000 HOSTILE_INPUTS=1000000 HOSTILE_SEED=$$(date +%s) scripts/tests.sh $(TARGET_DIR)/tests --profile checked --workspace

simulated: programs ## Do the procedures find truths that were planted in simulated queues?
	$(CHECKED)/bench-truth --tenbin $(CHECKED)/tenbin --only S

truth: programs ## Does the program find truths that were planted? TRUTH_FLAGS="--only T4,T8" takes some of them
	scripts/systems.sh
	$(CHECKED)/bench-truth --tenbin $(CHECKED)/tenbin --json $(TARGET_DIR)/truth.json $(or $(TRUTH_FLAGS),--only T --only R)

truth-full: ## Both, with as many of each as it takes to tell rates apart; three quarters of an hour
	$(MAKE) --no-print-directory truth TRUTH_FLAGS="--profile full $(TRUTH_FLAGS)"

why-short: programs ## Does the program name bottlenecks that were planted in real servers? Those that it names reliably, in two minutes
	scripts/planted.sh
	$(CHECKED)/bench-why --tenbin $(CHECKED)/tenbin --json $(TARGET_DIR)/why-short.json

why: programs ## The same with all of them, in eight minutes. WHY_FLAGS="--noisy" adds a neighbor, "--only c-pool,c-mutex" takes some
	scripts/planted.sh
	$(CHECKED)/bench-why --tenbin $(CHECKED)/tenbin --profile full --json $(TARGET_DIR)/why.json --document docs/why.md $(WHY_FLAGS)

why-blind: programs ## The same with plants by an author who did not read the rules; 25 minutes. BLIND_FLAGS="--part last" runs the last quarter, "--only c-tenant-slots" one
	scripts/planted.sh blind
	$(CHECKED)/bench-why blind --tenbin $(CHECKED)/tenbin --json $(TARGET_DIR)/why-blind.json --document docs/why.md $(BLIND_FLAGS)

# N=10 runs of every group take three hours.
steady: programs $(NODE_MODULES) ## Do tests that depend on time pass next to a compiler? N=10 GROUPS="engine truth" runs each of these ten times
	scripts/planted.sh
	scripts/systems.sh
	scripts/browser.sh
	scripts/next-to-a-compiler.sh scripts/steady.sh $(abspath $(TARGET_DIR)) $(or $(N),10) $(GROUPS)

browser: programs $(NODE_MODULES) ## Pages of the report in a real Chromium
	scripts/browser.sh
	cd ui && TENBIN=$(abspath $(CHECKED))/tenbin npm run browser
