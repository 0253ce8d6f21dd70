# umber: everything a developer runs. `make help` lists the targets.
#
# Each step leaves a stamp under the virtual environment and is skipped while nothing it depends on
# is newer than its stamp, so a second `make demo` only runs the example.

PYTHON ?= python3
VENV ?= .venv
CARGO ?= cargo
# Arguments of the example and of the test runners: make demo ARGS="--epochs 5".
ARGS ?=
PYTEST_ARGS ?=
PYTEST_WORKERS ?= 2
# In small chunks, or one worker is left alone with the slow tests of the last one.
workers = -n $(PYTEST_WORKERS) --maxschedchunk 32
# Random cases are the same on every run; PROPTEST_RNG_SEED=7 make test draws others.
export PROPTEST_RNG_SEED ?= 1
# The Rust tests run on the kernels and the crates of others that the wheel is made of, compiled once; for that, the bindings are
# among the packages, too, since Cargo chooses the features of crates by what is built together. The crates above the kernels have
# assertions on, and are not optimised as far: a crate that is one unit takes twice as long to build.
assertions = $(foreach crate,$(1),$(foreach setting,debug-assertions=true overflow-checks=true opt-level=2 \
	codegen-units=16,--config profile.release.package.$(crate).$(setting)))
with_assertions := $(call assertions,umber-codecs umber-core umber-io umber-data umber) --config profile.release.package.umber-python.opt-level=0
# The same for all crates of ours, without the bindings.
manifests := $(wildcard crates/*/Cargo.toml crates/kernels/*/Cargo.toml)
bindings := umber-python umber-module
checked := $(addprefix --exclude ,$(bindings)) $(call assertions,$(filter-out $(bindings),$(shell \
	sed -n 's/^name = "\(umber[a-z-]*\)"$$/\1/p' $(manifests))))

# What also runs with operations on a few elements recorded, as those on many are.
recorded := tests/fuzz tests/runtime/test_fused_broadcasts.py tests/runtime/test_memory.py tests/transforms/test_compile_cache.py \
	tests/transforms/test_grad.py

# What sends tests to a device with memory of its own.
on_device := UMBER_TEST_DEVICE=gpu UMBER_SIMULATED_GPU=delay_us=20

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

stamps := $(VENV)/.stamps
python := $(VENV)/bin/python
pip_install := $(python) -m pip install --quiet --disable-pip-version-check
sphinx := $(python) -m sphinx --quiet --fail-on-warning --keep-going --jobs auto --doctree-dir target/docs/doctrees
# The binding crate asks this interpreter for its ABI; build scripts run in other folders.
export PYO3_PYTHON := $(abspath $(python))

# What the wheel is made of. Folders count too: their time changes when a file is added or removed.
wheel_sources := $(wildcard Cargo.toml Cargo.lock pyproject.toml LICENSE README.md \
	crates/*/build.rs) $(manifests) \
	$(shell find $(wildcard crates/*/src crates/kernels/*/src) python \
		\( -name __pycache__ -o -name '.*' -o -name '*.pyc' \) -prune -o -print 2>/dev/null)

.PHONY: help demo test test-rust test-checked test-python test-random test-device test-races test-peers test-peers-here check lint-layout lint-rust lint-python lint-inlined lint-default-profile format bench stubs docs docs-links wheel release-wheel release-crates clean
.DEFAULT_GOAL := help

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(stamps)/demo $(stamps)/installed ## Build, install and train on the handwritten digits
	$(python) examples/digits.py $(ARGS)

test: test-rust test-python ## Run all Rust and Python tests

test-rust: $(stamps)/venv ## Run the Rust tests
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run --locked --workspace --release $(with_assertions); \
	else \
		$(CARGO) test --locked --workspace --release $(with_assertions) --tests --examples; \
	fi
	@$(CARGO) test --locked --workspace --release $(with_assertions) --doc

test-checked: $(stamps)/venv ## Run the Rust tests with assertions in the kernels, too
	$(CARGO) test --locked --workspace --release $(checked) --tests

test-python: $(stamps)/test $(stamps)/installed ## Run the Python tests
	$(python) -m pytest -q $(workers) $(PYTEST_ARGS)
	$(if $(PYTEST_ARGS),,UMBER_EAGER=0 $(python) -m pytest -q $(workers) $(recorded))
	$(if $(PYTEST_ARGS),,$(on_device) UMBER_TEST_SAMPLE=8 $(python) -m pytest -q $(workers))

# The random cases of test-python are the same in every run; these follow from the seed, and are EXAMPLES times as many.
test-random: $(stamps)/test $(stamps)/installed ## Run the property-based and fuzz tests with a random seed
	@seed=$${SEED:-$$(shuf -i 0-4294967295 -n 1)}; \
	echo "umber random seed: $$seed; rerun with SEED=$$seed make test-random"; \
	UMBER_RANDOM_SEED=$$seed UMBER_EXAMPLES=$${EXAMPLES:-10} $(python) -m pytest -q $(workers) \
		--hypothesis-seed=$$seed -m "hypothesis or drawn" $(PYTEST_ARGS)

test-device: $(stamps)/test $(stamps)/installed ## Run the Python tests on a simulated accelerator
	$(on_device) $(python) -m pytest -q $(workers) $(PYTEST_ARGS)

# Stable toolchains have no sanitizers. The standard library is not instrumented; what that hides is in tools/tsan.supp.
test-races: ## Look for data races in the thread pool, the executor and the simulated device, with a nightly Rust
	CARGO_TARGET_DIR=target/races TSAN_OPTIONS="suppressions=$(CURDIR)/tools/tsan.supp allocator_may_return_null=1" \
		RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" \
		$(CARGO) +nightly test --locked --target $(shell uname -m)-unknown-linux-gnu \
		-p umber-kernels-base -p umber-core -p umber-simulated --lib --tests

# PyTorch, JAX, TensorFlow and their kin are gigabytes, and must not decide which versions the other tests run with.
test-peers: ## Install PyTorch, JAX, TensorFlow and others beside, and exchange memory with them
	$(MAKE) VENV=$(VENV)-peers test-peers-here

test-peers-here: $(stamps)/peers $(stamps)/installed
	$(python) -m pytest -q tests/interop -m host $(PYTEST_ARGS)

check: lint-layout lint-rust lint-python lint-inlined ## Formatting, lints, floors, sizes, examples, stubs, docstrings, inlining and code sizes

lint-layout: $(stamps)/venv
	$(python) tools/floors.py
	$(python) tools/sizes.py
	$(python) tools/doc_examples.py
	$(python) tools/performance_chart.py --check
	@if $(CARGO) deny --version >/dev/null 2>&1; then set -x; $(CARGO) deny check bans licenses sources; fi

lint-rust: $(stamps)/venv
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

lint-python: $(stamps)/lint $(stamps)/demo $(stamps)/installed
	$(python) -m ruff check
	$(python) -m ruff format --check
	$(python) -m mypy
	$(python) tools/stubs.py --check
	$(python) tools/docstrings.py

lint-inlined: $(stamps)/installed
	$(python) tools/inlined.py
	$(python) tools/code_size.py --budget

# As a program that depends on umber builds it, whose profile is its own.
lint-default-profile: $(stamps)/venv ## Look for loops that builds with Cargo's default profile tear apart
	CARGO_TARGET_DIR=target/default-profile $(CARGO) build --locked --release -p umber \
		--config profile.release.lto=false --config profile.release.codegen-units=16
	CARGO_TARGET_DIR=target/default-profile $(python) tools/inlined.py

format: $(stamps)/lint ## Format Rust and Python in place
	$(CARGO) fmt --all
	$(python) -m ruff check --fix
	$(python) -m ruff format

bench: $(stamps)/demo $(stamps)/installed ## Compare with NumPy, and with MLX and PyTorch where installed
	$(python) benches/versus.py $(ARGS)

stubs: $(stamps)/installed ## Write the type stubs from the built extension module
	$(python) tools/stubs.py

# Warnings are errors: among them links within the site that lead nowhere, and names that no page documents.
docs: $(stamps)/docs $(stamps)/demo $(stamps)/installed ## Build the documentation site into target/docs
	$(sphinx) -b html docs target/docs/html
	@echo "open target/docs/html/index.html"

docs-links: $(stamps)/docs $(stamps)/demo $(stamps)/installed ## Check the documentation's external links
	$(sphinx) -b linkcheck docs target/docs/links

wheel: $(stamps)/wheel ## Build the release wheel into dist/
	@ls dist/*.whl

# Zig links against the glibc of manylinux_2_28 (Debian 10, Ubuntu 20.04, RHEL 8 and later). Paths of this machine and the time do
# not get into the files, so that one commit gives the same bytes everywhere.
release := dist/release
glibc := manylinux_2_28
release-wheel: $(stamps)/release ## Build and check the wheel and the source distribution of a release in dist/release
	rm -rf $(release)
	PATH=$(abspath $(VENV)/bin):$$PATH SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) CARGO_TARGET_DIR=target/release-wheel \
		RUSTFLAGS="--remap-path-prefix=$(CURDIR)=/umber --remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo" \
		$(python) -m maturin build --release --locked --zig --compatibility $(glibc) --interpreter $(PYO3_PYTHON) --out $(release)
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(python) -m maturin sdist --out $(release)
	$(python) -m auditwheel show $(release)/*.whl | grep -q '"$(glibc)_'
	$(python) -m twine check --strict $(release)/*
	rm -rf $(release)-venv && $(PYTHON) -m venv $(release)-venv
	$(release)-venv/bin/python -m pip install --quiet --disable-pip-version-check numpy $(release)/*.whl
	cd $(release)-venv && bin/python $(CURDIR)/tools/release_smoke.py
	@sha256sum $(release)/*

release-crates: $(stamps)/venv ## Document every crate, package the published ones, build each from its package, and upload nothing
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	$(CARGO) publish --workspace --dry-run --locked --target-dir target/release-crates

clean: ## Remove everything that was built
	rm -rf $(VENV) $(VENV)-peers dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
	$(CARGO) clean

$(stamps)/venv:
	@command -v $(CARGO) >/dev/null || { echo "umber needs Rust 1.95 ($(CARGO) was not found)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "umber needs CPython 3.11 or later as PYTHON ($(PYTHON) is not)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(stamps) && touch $@

$(stamps)/build $(stamps)/demo $(stamps)/test $(stamps)/peers $(stamps)/lint $(stamps)/docs $(stamps)/release: $(stamps)/%: requirements/%.txt $(stamps)/venv
	$(pip_install) -r $<
	@touch $@

$(stamps)/test: requirements/demo.txt
$(stamps)/peers: requirements/test.txt requirements/demo.txt

$(stamps)/wheel: $(wheel_sources) $(stamps)/build
	rm -rf dist
	$(python) -m maturin build --release --locked --interpreter $(PYO3_PYTHON) --out dist
	@touch $@

$(stamps)/installed: $(stamps)/wheel
	$(pip_install) --no-deps --force-reinstall dist/umber-*.whl
	@touch $@
