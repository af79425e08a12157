"""Test one operation of the API with requests that its schema allows and with requests that it forbids."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from django.test import Client
from django.urls import resolve
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import manifests
from planner.accounts.models import Role
from planner.accounts.services.invitations import invitation_offer
from planner.accounts.services.tokens import token_make
from planner.accounts.services.workspaces import workspace_create
from planner.runs.models import Run
from scheduler_core import simulate_document
from tests import factories
from tests.planner import calls
from tests.planner.recorded import finish

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
GENERATED = settings(
    deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
SCHEMA = schemathesis.openapi.from_wsgi("/api/v1/schema/?format=json", get_wsgi_application())
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]


@dataclass
class Trial:
    """The result of one operation: the number of requests by kind and status, and the findings."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        """Return how many valid requests succeeded."""
        return sum(
            count for (sort, status), count in self.requests.items() if sort != "negative" and status < 300
        )


class World:
    """One object of each kind, so that every address exists; each call is rolled back."""

    def __init__(self) -> None:
        admin = factories.user("admin", role=Role.ADMIN)
        factories.user("deputy", role=Role.ADMIN)  # an account that is the only admin cannot be deleted
        Client().force_login(admin)
        boss = factories.user("outsider", role=None)
        others = workspace_create(name="others", user=boss).workspace
        offer = invitation_offer(workspace=others, username="admin", role=Role.EDITOR, user=boss)
        run = factories.run()
        finish(run, simulate_document(manifests.resolve(run.input.document())))
        self._bodies = calls.bodies(run)
        self._scenario = calls.edited(run.scenario)
        self._named = {"number": 1, **calls.objects(run, self._scenario)}  # of a cell, a revision
        offered = {"invitation_id": offer.pk}
        self._by_route = calls.route_objects(run, self._scenario) | dict.fromkeys(
            ("api:offer", "api:offer-accept"), offered
        )
        self._queries = queries(run, factories.run(self._scenario), self._named)
        _, self._token = token_make(user=admin, scope=Role.ADMIN)

    def example(self, operation: APIOperation) -> Case:
        """Return a request of an operation that is known to be valid."""
        case = operation.Case(method=operation.method.upper())
        self._address(case)
        body = self._bodies.get((operation.method, self._route(case)))
        if body is not None:
            case.body = body
            case.media_type = next((item.media_type for item in operation.body.items), "application/json")
        return case

    def try_out(self, case: Case, trial: Trial) -> None:
        """Send a request, roll back its changes, and record the findings about the response."""
        sort = case.meta.generation.mode.value if case.meta else "example"
        self._address(case)
        headers = {"Authorization": f"Token {self._token}", "Accept-Encoding": "identity"}
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        trial.requests[sort, answer.status_code] += 1
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as failures:
            what = "; ".join(f"{one.title}: {one.message}"[:600] for one in failures.exceptions)
            trial.findings.append(f"{sort} {answer.status_code} {what}\n{case.as_curl_command()[:900]}")

    def _address(self, case: Case) -> None:
        """Let all parts that are not wrong on purpose refer to existing objects at their current revision."""
        if not _is_wrong(case, ParameterLocation.PATH):
            route = self._route(case)
            named = self._named | self._by_route.get(f"api:{route}", {})
            names = {parameter.name for parameter in case.operation.path_parameters}
            case.path_parameters = {name: str(named[name]) for name in names}
        if not _is_wrong(case, ParameterLocation.QUERY):
            query = dict(case.query or {})
            query.pop("fields", None)  # a part of an answer is not the whole that the schema describes
            taken = {parameter.name for parameter in case.operation.query}
            wanted = self._queries.get(case.operation.path.rpartition("/v1/")[2], {})
            case.query = query | {name: value for name, value in wanted.items() if name in taken}
        if not _is_wrong(case, ParameterLocation.HEADER):
            taken = {parameter.name for parameter in case.operation.headers}
            actual = {"If-Match": f'"{calls.tag(self._route(case), self._scenario)}"'}
            case.headers = {name: value for name, value in (case.headers or {}).items() if name != "Prefer"}
            case.headers.update({name: value for name, value in actual.items() if name in taken})

    def _route(self, case: Case) -> str:
        parts = {parameter.name for parameter in case.operation.path_parameters}
        name = resolve(case.operation.path.format(**{part: self._named[part] for part in parts})).url_name
        assert name is not None
        return name


def queries(run: Run, other: Run, named: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the query of each address whose parameters refer to objects."""
    return {
        "comparisons/": {"runs": f"{run.pk},{other.pk}"},
        "search/": {"q": "wait"},
        "forecasts/{forecast_id}/comparison/": {"with": str(named["forecast_id"])},
        "scenarios/{scenario_id}/reach/": {
            "figure": "deserved",
            "queue": "waits",
            "resource": "cpu",
            "at_least": "1",
        },
        "scenarios/{scenario_id}/rebase/": {"snapshot": str(named["snapshot_id"])},
    }


def generated(operation: APIOperation, world: World, *, examples: int) -> Trial:
    """Try an operation with a valid request, then with `examples` generated requests of each mode."""
    trial = Trial()
    world.try_out(world.example(operation), trial)
    for mode in GenerationMode:

        @settings(GENERATED, max_examples=examples)
        @given(case=operation.as_strategy(generation_mode=mode))
        def tried(case: Case) -> None:
            world.try_out(case, trial)

        tried()
    return trial


def boundaries(operation: APIOperation, world: World) -> Trial:
    """Try an operation with every boundary value of every parameter and field in its schema."""
    trial = Trial()

    def tried(case: Case) -> None:
        world.try_out(case, trial)

    explicit = settings(GENERATED, phases=[Phase.explicit])
    modes = [HypothesisTestMode.COVERAGE]
    config = HypothesisTestConfig(project=SCHEMA.config, modes=modes, settings=explicit)
    create_test(operation=operation, test_func=tried, config=config)()
    return trial


def _is_wrong(case: Case, location: ParameterLocation) -> bool:
    return case.meta is not None and case.meta.is_negative_at(location)
