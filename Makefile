# The project's verbs. `make run` and `make test` need Debian's make and python3-venv, and nothing else.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed

.PHONY: run test format parity bench test-long services audit sbom topology

run: $(STAMP)  ## Start web and worker; PORT=8000. Ctrl-C stops them
	@exec $(BIN)/python manage.py up

test: $(STAMP) services  ## Everything that a contributor needs to trust a change
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py check --settings config.settings_test
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings_test
	$(BIN)/pytest -n 2 --dist loadfile -m "not long" --ignore tests/e2e --ignore tests/processes
	$(BIN)/pytest -n 2 --dist loadfile -m "not long" tests/e2e tests/processes

test-long: $(STAMP) services  ## Chaos, load and drain: prints tables, see docs/faults.md and benchmarks/
	$(BIN)/pytest -m long --timeout 7200 tests
	$(BIN)/python -m tests.processes.faults long
	$(BIN)/python -m tests.processes.endurance
	$(BIN)/python -m benchmarks.bench_drain
	$(BIN)/python -m benchmarks.bench_load

parity: $(STAMP)  ## Compare with the recorded answers of the real scheduler; FILES=…
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.versions)
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.replays)
	$(BIN)/python -m scheduler_core parity $(or $(FILES),$(wildcard $(addprefix $(or $(QUEUECAST_SHARED),../shared)/golden/,*.jsonl.gz open/*.jsonl.gz)))

bench: $(STAMP)  ## How long the core takes, and what explanations cost
	$(BIN)/python -m benchmarks.bench_simulate
	$(BIN)/python -m benchmarks.bench_explained

audit: $(STAMP)  ## Ask for known weaknesses of every locked version; needs a network, fails when not all was checked
	@scripts/audit

sbom:  ## Print what runs in production, as CycloneDX 1.6
	@scripts/sbom

topology: $(STAMP) services  ## The production shape on this machine: PostgreSQL, Redis, gunicorn, two workers
	$(BIN)/python -m tests.processes.topology

format: $(STAMP)  ## Put the code in its form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

services:  ## Install what tests need beside Python, when that is possible
	@scripts/install-test-services

# The lock is installed again whenever it changes.
$(STAMP): requirements/dev.txt
	@scripts/install $(PYTHON)
	@touch $@
