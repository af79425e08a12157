"""Each arrow of ARCHITECTURE.md is a contract of pyproject.toml that holds, and fails when it is broken."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import grimp
import pytest
from importlinter.application.use_cases import read_user_options
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract
from importlinter.domain.contract import Contract

PROJECT = Path(__file__).parents[1]
TYPES: dict[str, type[Contract]] = {
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
    "protected": ProtectedContract,
}

BROKEN_BY = {
    "The core imports no framework, no I/O, no clock and no random numbers": (
        "scheduler_core.simulate",
        "planning.outcomes",
    ),
    "Inside the core: actions and plugins meet only through the session": (
        "scheduler_core.actions.reclaim",
        "scheduler_core.plugins.gang",
    ),
    "Inside the core: what decides neither records explanations nor writes results": (
        "scheduler_core.actions.reclaim",
        "scheduler_core.recording",
    ),
    "Plugins do not import each other": ("scheduler_core.plugins.gang", "scheduler_core.plugins.priority"),
    "The reader of manifests imports neither Django nor the core": (
        "manifests",
        "scheduler_core.quantity",
    ),
    "The extender's client imports neither Django nor the core": (
        "extender_client",
        "scheduler_core.plugins.extender.wire",
    ),
    "Traces import neither Django nor the core": ("traces.read", "manifests"),
    "The command line queuecast works without Django": ("queuecast.local", "django"),
    "Planning imports no database, no Django and no feature": ("planning.outcomes", "django"),
    "Settings contain no rules: config imports neither the core nor services and selectors": (
        "config.settings",
        "planning.version",
    ),
    "Models import neither selectors, services nor interfaces": (
        "planner.runs.models.run",
        "planner.runs.selectors.runs",
    ),
    "Selectors only read: they import no service and no interface": (
        "planner.runs.selectors.runs",
        "planner.runs.services.runs",
    ),
    "Services import no page, no API call and no broker": (
        "planner.runs.services.runs",
        "planner.runs.tasks",
    ),
    "Tasks of workers import no page and no API call": (
        "planner.runs.tasks",
        "planner.runs.views.runs",
    ),
    "Pages and API calls queue work through services": ("planner.runs.views.runs", "planner.runs.tasks"),
    "Background work imports no feature but accounts: features register their kinds of work": (
        "planner.work.execution",
        "planner.runs.services.simulations",
    ),
    "Accounts do not import background work": ("planner.accounts.models.user", "planner.work.lifecycle"),
    "Only config routes requests to planner": ("planner.runs.views.runs", "planner.urls"),
    "Pages and API calls do not import each other": ("planner.runs.views.runs", "planner.runs.api.runs"),
    "API calls do not import pages": ("planner.runs.api.runs", "planner.runs.views.runs"),
    "Features use each other through services and selectors, not through pages": (
        "planner.runs.views.runs",
        "planner.clusters.views.imports",
    ),
    "Features use each other through services and selectors, not through API calls": (
        "planner.runs.api.runs",
        "planner.clusters.api.imports",
    ),
    "Only planning, queuecast and a child process import the core": (
        "planner.runs.selectors.runs",
        "scheduler_core.resource",
    ),
    "Only planning, the command lines and two child processes read manifests": (
        "planner.runs.selectors.runs",
        "manifests.differences",
    ),
    "Only a child process and the core's command line call extenders": (
        "planner.runs.services.runs",
        "extender_client",
    ),
    "Only planner.runs.charts imports Plotly": ("planner.runs.views.runs", "plotly"),
    "Only planner.work.broker, planner.work.tasks and config import Celery": ("planner.runs.tasks", "celery"),
    "Only planner.api.parquet_files imports pyarrow": ("planner.api.tables", "pyarrow"),
}
"""An import, importer first, that breaks each contract."""
PER_FEATURE = {
    "Features use each other through services and selectors, not through pages": ("views", {"web"}),
    "Features use each other through services and selectors, not through API calls": ("api", set()),
}
"""Contracts that list a module of every feature, and the folders that are no feature."""


def contracts() -> dict[str, Contract]:
    configure()
    options = read_user_options(str(PROJECT / "pyproject.toml"))
    session: dict[str, Any] = options.session_options
    return {
        declared["name"]: TYPES[declared["type"]](declared["name"], session, declared)
        for declared in options.contracts_options
    }


CONTRACTS = contracts()


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    packages = CONTRACTS[next(iter(CONTRACTS))].session_options["root_packages"]
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


def test_each_contract_has_an_example_that_breaks_it() -> None:
    assert set(BROKEN_BY) == set(CONTRACTS)


@pytest.mark.parametrize("name", BROKEN_BY)
def test_a_contract_holds_and_fails_when_it_is_broken(name: str, graph: grimp.ImportGraph) -> None:
    contract = CONTRACTS[name]
    importer, imported = BROKEN_BY[name]
    assert {importer, imported} <= graph.modules
    assert contract.check(deepcopy(graph), verbose=False).kept
    broken = deepcopy(graph)
    broken.add_import(importer=importer, imported=imported)
    assert not contract.check(broken, verbose=False).kept


@pytest.mark.parametrize("name", PER_FEATURE)
def test_a_contract_about_features_lists_every_feature(name: str, graph: grimp.ImportGraph) -> None:
    room, no_features = PER_FEATURE[name]
    features = {module.rpartition(".")[2] for module in graph.find_children("planner")} - no_features
    rooms = {f"planner.{feature}.{room}" for feature in features} & graph.modules
    assert set(CONTRACTS[name].contract_options["modules"]) == rooms


def test_the_contract_of_work_forbids_every_feature_but_accounts(graph: grimp.ImportGraph) -> None:
    name = "Background work imports no feature but accounts: features register their kinds of work"
    shared = {"accounts", "apps", "errors", "management", "migrations", "models", "rules", "urls", "work"}
    folders = {module.rpartition(".")[2] for module in graph.find_children("planner")} - shared
    forbidden = CONTRACTS[name].contract_options["forbidden_modules"]
    assert set(forbidden) == {f"planner.{folder}" for folder in folders}
