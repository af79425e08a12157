# The project's verbs. `make run` and `make test` need Debian's make and python3-venv, and nothing else.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
# Tests start hundreds of processes; where the environment forbids bytecode, each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test units journeys form contracts types models format parity bench test-long services audit sbom topology coverage docs wheel

run: $(STAMP)  ## Start web and worker; PORT=8000. Ctrl-C stops them
	@exec $(BIN)/python manage.py up

# Files start in the order in which they are named: by default those with few tests, which may be the longest, would start
# last. Journeys wait a third of their time for processes and pages: beside units they keep two processors busy.
BALANCED := --dist loadfile --no-loadscope-reorder

test: $(STAMP) services  ## Everything that a contributor needs to trust a change
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target form contracts docs models
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=line journeys units types

units: $(STAMP)  ## Tests within one process, as far as the product itself is
	$(BIN)/pytest -n 2 $(BALANCED) -m "not long" --ignore tests/e2e --ignore tests/processes

journeys: $(STAMP) services  ## Tests of the processes that an installation starts, and of its pages in a browser
	$(BIN)/pytest -n 3 $(BALANCED) -m "not long" tests/processes tests/e2e

form: $(STAMP)  ## Is everything in the form that `make format` gives it?
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/djlint templates --check --quiet

contracts: $(STAMP)  ## Who may import whom
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

models: $(STAMP)  ## Django's own checks; does every change of a model have its migration?
	$(BIN)/python manage.py check --settings config.settings_test
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings_test

test-long: $(STAMP) services  ## More cases of the tests, chaos, load and drain: prints tables, see docs/faults.md and benchmarks/
	$(BIN)/pytest -m long --timeout 7200 tests
	QUEUECAST_EXAMPLES=300 $(BIN)/pytest -q -m "not long" --timeout 7200 tests/scheduler_core
	$(BIN)/python -m tests.processes.faults long
	$(BIN)/python -m tests.processes.endurance
	$(BIN)/python -m benchmarks.bench_drain
	$(BIN)/python -m benchmarks.bench_load

parity: $(STAMP)  ## Compare with the recorded answers of the real scheduler; FILES=…
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.versions)
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.replays)
	$(BIN)/python -m scheduler_core parity $(or $(FILES),$(wildcard $(addprefix $(or $(QUEUECAST_SHARED),../shared)/golden/,*.jsonl.gz open/*.jsonl.gz)))

bench: $(STAMP)  ## How long the core takes, one more cycle, a replay, and what explanations cost
	$(BIN)/python -m benchmarks.bench_simulate
	$(BIN)/python -m benchmarks.bench_living --memory 10000
	$(BIN)/python -m benchmarks.bench_replay
	$(BIN)/python -m benchmarks.bench_explained

audit: $(STAMP)  ## Ask for known weaknesses of every locked version; needs a network, fails when not all was checked
	@scripts/audit

sbom:  ## Print what runs in production, as CycloneDX 1.6
	@scripts/sbom

docs: $(STAMP)  ## Build the documentation site into var/site; a broken link or anchor is an error
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

coverage: $(STAMP) services  ## Which lines do the tests without a browser reach? Prints the others, and the figure
	@mkdir -p var/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n 2 $(BALANCED) -m "not long" --ignore tests/e2e --ignore tests/processes
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

wheel: $(STAMP)  ## Build the client's package into var/dist
	$(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir var/dist

topology: $(STAMP) services  ## The production shape on this machine: PostgreSQL, Redis, gunicorn, two workers
	$(BIN)/python -m tests.processes.topology

format: $(STAMP)  ## Put the code in its form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/djlint templates --reformat --quiet --warn

services:  ## Install what tests need beside Python, when that is possible
	@scripts/install-test-services

# The lock is installed again whenever it changes.
$(STAMP): requirements/dev.txt
	@scripts/install $(PYTHON)
	@touch $@
