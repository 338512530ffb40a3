# `make` lists the targets. Every target sets up what it needs in .venv, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JAR    := src/cutset/reproduce/jvm/cutset-jvm.jar
READY  := $(VENV)/.ready-dev $(JAR)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-browser check format bench-experiments bench-search bench-solver bench-traces bench-reproduce bench-jvm bench-drill bench-harden bench-truth bench-effects bench-impact bench-ui istio test-istio test-istio-1 test-istio-2 test-istio-3 bench-istio dist docs screenshots protos clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | expand -t 22

setup: $(READY) ## create the virtual environment

demo: $(READY) ## start the shop, find every minimal cut, compare with the answer key
	@$(BIN)/cutset demo

# Services with short time limits: nothing else should keep the machine busy.
ALONE := tests/cutset_demo/flaws tests/quality/test_drill.py
# A shop, a mesh, a dashboard and a Chromium at once: the machine is theirs. Skipped where there is no Chromium.
BROWSER := tests/browser
# A cluster is needed for these: `make test-istio`.
LABORATORY := tests/istio

# What failed beside others runs once more, alone, in the open: a machine that was too busy is not a bug.
once_more = || { [ $$? -eq 1 ] && echo "== Once more, alone, what failed:" && $(or $(2),$(BIN)/pytest) -rap --last-failed --last-failed-no-failures none $(1); }

SIDE_BY_SIDE := $(addprefix --ignore ,$(ALONE) $(BROWSER) $(LABORATORY))

test: check ## run all checks and tests
	$(BIN)/pytest -n auto --dist loadfile --durations=25 $(SIDE_BY_SIDE) $(call once_more,$(SIDE_BY_SIDE))
	$(BIN)/pytest --durations=5 $(ALONE) $(call once_more,$(ALONE))
	$(BIN)/pytest -rs --durations=5 $(BROWSER) $(call once_more,$(BROWSER))

test-browser: $(READY) ## the dashboard in a real Chromium; skipped where there is none
	$(BIN)/pytest -rs $(BROWSER)

# Rooms that start no server and no process, a few examples of every property.
FAST := checks $(addprefix cutset/,model lineage select search judge harden simulation manifests store config report)

test-fast: $(READY) ## the inner loop: rooms that start no server, in less than a minute
	HYPOTHESIS_PROFILE=fast $(BIN)/pytest -q -n auto $(addprefix tests/,$(FAST))

check: $(READY) ## ruff, mypy --strict, import contracts, our own checks
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m checks

format: $(READY) ## format the code and apply safe fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench-experiments: $(READY) ## experiments per second, isolation and overhead; ends with one JSON line
	@$(BIN)/python -m benchmarks.experiments

bench-search: $(READY) ## injections and rounds of every strategy on the papers' systems; ends with one JSON line
	@$(BIN)/python -m benchmarks.search

bench-solver: $(READY) ## minimal hitting sets against FastFI's algorithm, Z3 and PySAT; ends with one JSON line
	@$(BIN)/python -m benchmarks.solver

bench-traces: $(READY) ## reading and analysing millions of spans, workflows against gSpan; ends with one JSON line
	@$(BIN)/python -m benchmarks.traces

bench-reproduce: $(READY) ## real failures of Python programs from their logs, ablations, costs; ends with one JSON line
	@$(BIN)/python -m benchmarks.reproduce

bench-jvm: $(READY) ## real failures of JVM systems from their logs, costs; needs a JDK and Maven; ends with one JSON line
	@$(BIN)/python -m benchmarks.jvm

bench-drill: $(READY) ## planted bugs and correct look-alikes under drills, replay rates, overhead; ends with one JSON line
	@$(BIN)/python -m benchmarks.drill

bench-harden: $(READY) ## what to harden, against the papers' methods; probabilities; ends with one JSON line
	@$(BIN)/python -m benchmarks.harden

bench-effects: $(READY) ## one search over every effect: what it finds and costs; ends with one JSON line
	@$(BIN)/python -m benchmarks.effects

bench-impact: $(READY) ## faults on a share of live requests: verdicts, guards, costs, against ART; ends with one JSON line
	@$(BIN)/python -m benchmarks.impact

bench-ui: $(READY) ## the dashboard: pages, first paint, live lag, hostile inputs, docs; ends with one JSON line
	@$(BIN)/python -m benchmarks.ui

bench-truth: $(READY) ## completeness, containment and records put to the test; ends with one JSON line
	@$(BIN)/python -m benchmarks.truth

# Says `skipped: …` and ends well where there is no Go, no root, no network namespaces or no iptables.
WITH_CLUSTER = $(BIN)/python -m cluster.build $(BIN)/python -m cluster run

istio: $(READY) ## build a real Kubernetes and Istio control plane, once, into ~/.cache/cutset/cluster (kept by clean)
	@$(BIN)/python -m cluster.build

test-istio: $(READY) ## tests against that control plane, pods and sidecars; skipped where it cannot run
	@$(BIN)/python -m cluster.build $(MAKE) --no-print-directory --output-sync=target -j3 $(addprefix test-istio-,1 2 3)

# Three laboratories side by side, since most of the time is spent waiting. What is not named is in the third.
ISTIO_1 := $(patsubst %,$(LABORATORY)/test_%.py,boutique relay rollout impact)
ISTIO_2 := $(patsubst %,$(LABORATORY)/test_%.py,install rights jaeger tracing explore)
ISTIO_3 := $(filter-out $(ISTIO_1) $(ISTIO_2),$(wildcard $(LABORATORY)/test_*.py))

test-istio-1 test-istio-2 test-istio-3: PYTEST = $(BIN)/python -m cluster run -- $(BIN)/pytest -o cache_dir=.pytest_cache/$@
test-istio-1 test-istio-2 test-istio-3: $(READY)
	@$(PYTEST) --durations=5 $(ISTIO_$(subst test-istio-,,$@)) $(call once_more,$(ISTIO_$(subst test-istio-,,$@)),$(PYTEST))

bench-istio: $(READY) ## install, isolation, cost and answers in that Istio; ends with one JSON line
	@$(WITH_CLUSTER) --shop none -- $(BIN)/python -m benchmarks.istio

dist: $(READY) ## build both distributions, prove each in empty environments; ends with one JSON line
	@$(BIN)/python -m checks.dist

# The notice is about the next major version of MkDocs; the switch is its authors' own.
docs: $(READY) ## build the documentation into site/; a broken link or any other warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html; to search in it: $(BIN)/python -m http.server --bind 127.0.0.1 --directory site"

screenshots: $(READY) ## take the pictures of the dashboard anew, of the real demo (needs Chromium)
	@$(BIN)/python docs/screenshots.py

PROTOS := cutset_demo/boutique.proto cutset/inject/marking/check.proto

protos: $(READY) ## regenerate the code of protocol buffers: the boutique's, and of what Envoy asks
	cd src && ../$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. $(PROTOS)

clean: ## remove the environment and all caches
	rm -rf $(VENV) $(JAR) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The part for JVM programs. Without a JDK there is none: it says so, and the rest does without.
$(JAR): $(shell find jvm -type f) | $(VENV)/.ready-dev
	@$(BIN)/python jvm/build.py

$(VENV)/.ready-dev: pyproject.toml agent/pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) not found; install Python 3.11 or newer, or set PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Cutset needs Python 3.11 or newer; set PYTHON=…" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ./agent -e '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt drain3 jsonpickle
	@touch $@
