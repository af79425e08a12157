# The project's commands. `make run` and `make test` need only Debian's make and python3-venv.

# Debian's interpreter is built with optimizations, which one that precedes it in PATH may lack.
PYTHON ?= $(shell /usr/bin/python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo /usr/bin/python3 || echo python3)
BIN := .venv/bin
STAMP := .venv/installed
# Tests start hundreds of processes; if the environment forbids bytecode, each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# As the product sets it: hundreds of processes would each start threads that have nothing to do.
export OPENBLAS_NUM_THREADS = 1

.PHONY: run test units core planning product journeys form contracts types models format parity bench test-long services audit sbom topology coverage docs wheel

run: $(STAMP)  ## Start web and worker; PORT=8000. Ctrl-C stops them
	@exec $(BIN)/python manage.py up

# Test files start in the order of their names: by default those with few tests, which may be the longest, would start
# last. Journeys and units wait for processes and pages part of their time, so that more of them run than processors.
BALANCED := --dist loadfile --no-loadscope-reorder
# The units run in three processes of similar length, one more than processors, as each waits at times. Workers of one
# pytest would each collect all tests, and report every step of each: 4 ms a test. Children of `python -m pytest` do
# not import pytest, as those of the script do.
PYTEST := $(BIN)/python -m pytest -m "not long"
CORE := scheduler_core $(addprefix tests/,fidelity reference scheduler_core)
PRODUCT := planner tests/planner
WITH_PROCESSES := tests/e2e tests/processes

test: $(STAMP) services  ## Run everything needed to trust a change
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target form contracts docs models
	@$(MAKE) --no-print-directory --jobs 5 --output-sync=line journeys core planning product types

units: $(STAMP)  ## Run the tests within one process, except where the product itself starts others
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=line core planning product

core: $(STAMP)  ## Run the units of the core
	$(PYTEST) $(CORE)

planning: $(STAMP)  ## Run the units of planning, of the client and of manifests, attacks, and the rules of the house
	$(PYTEST) planning queuecast manifests tests $(addprefix --ignore ,$(CORE) $(PRODUCT) $(WITH_PROCESSES))

product: $(STAMP)  ## Run the units of pages, the API and background work
	$(PYTEST) $(PRODUCT)

journeys: $(STAMP) services  ## Run the tests of an installation's processes, and of its pages in a browser
	$(PYTEST) -n 2 $(BALANCED) $(WITH_PROCESSES)

form: $(STAMP)  ## Check lint and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/djlint templates --check --quiet

contracts: $(STAMP)  ## Check the import contracts
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

models: $(STAMP)  ## Run Django's checks, as makemigrations does first, and check that every model change has its migration
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings_test

test-long: $(STAMP) services  ## Run more cases of the tests, chaos, load and drain, and print tables; see docs/faults.md and benchmarks/
	$(BIN)/pytest -m long --timeout 7200 tests
	QUEUECAST_EXAMPLES=300 $(BIN)/pytest -q -m "not long" --timeout 7200 tests/scheduler_core tests/manifests tests/planner/scenarios
	$(BIN)/python -m tests.processes.faults long
	$(BIN)/python -m tests.processes.endurance
	$(BIN)/python -m benchmarks.bench_drain
	$(BIN)/python -m benchmarks.bench_load

parity: $(STAMP)  ## Compare with the recorded answers of the real scheduler; FILES=…
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.versions)
	$(if $(FILES),,$(BIN)/python -m tests.fidelity.replays)
	$(BIN)/python -m scheduler_core parity $(or $(FILES),$(wildcard $(addprefix $(or $(QUEUECAST_SHARED),../shared)/golden/,*.jsonl.gz open/*.jsonl.gz)))

bench: $(STAMP)  ## Measure the core, one more cycle, replays, and the cost of explanations
	$(BIN)/python -m benchmarks.bench_simulate
	$(BIN)/python -m benchmarks.bench_living --memory 10000
	$(BIN)/python -m benchmarks.bench_replay --long --growth
	$(BIN)/python -m benchmarks.bench_explained

audit: $(STAMP)  ## Check every locked version for known vulnerabilities; needs a network, fails if any was not checked
	@scripts/audit

sbom:  ## Print the bill of materials of production, as CycloneDX 1.6
	@scripts/sbom

docs: $(STAMP)  ## Build the documentation site into var/site; a broken link or anchor is an error
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

coverage: $(STAMP) services  ## Measure the coverage of the tests without a browser; prints the missing lines and the total
	@mkdir -p var/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -n 2 $(BALANCED) -m "not long" $(addprefix --ignore ,$(WITH_PROCESSES))
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

wheel: $(STAMP)  ## Build the client's package into var/dist
	$(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir var/dist

topology: $(STAMP) services  ## Start the production setup on this machine: PostgreSQL, Redis, gunicorn, two workers
	$(BIN)/python -m tests.processes.topology

format: $(STAMP)  ## Format code and templates
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/djlint templates --reformat --quiet --warn

services:  ## Install what the tests need besides Python, if possible
	@scripts/install-test-services

# The locked requirements are installed again whenever they change.
$(STAMP): requirements/dev.txt
	@scripts/install $(PYTHON)
	@touch $@
