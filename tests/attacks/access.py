"""The access matrix: every route called as every principal, and whether the call wrote anything."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from knox.models import AuthToken
from rest_framework.test import APIClient

import manifests
from planner.accounts.models import Membership, Role, TokenDetails, Workspace
from scheduler_core import simulate_document
from tests import factories
from tests.planner import calls
from tests.planner.recorded import finish

PRINCIPALS = (
    "anonymous", "viewer", "editor", "admin", "outsider", "former", "read-only token", "revoked token",
)  # fmt: skip
"""The outsider is admin of another workspace; the former member was an admin; the tokens are an admin's."""

NOT_TAKEN = 405
WRONG_BODIES = {"no JSON": "{", "wrong type": '[["x"]]', "unknown key": '{"nonsense": 1}'}
WRITES = "*"
"""Marks a call that wrote to the database."""


@dataclass(frozen=True)
class Route:
    """One URL pattern with one HTTP method."""

    name: str
    method: str
    pattern: str
    is_api: bool

    @property
    def call(self) -> str:
        """Return its name in the table."""
        return f"{self.method.upper()} /{self.pattern}"


@dataclass(frozen=True)
class Outcome:
    """The response to one principal."""

    status: int
    wrote: bool
    spoilt: Mapping[str, int] = field(default_factory=dict)
    """If the role refused the call: the statuses of the same call with something else wrong."""

    def __str__(self) -> str:
        return f"{self.status}{WRITES if self.wrote else ''}"


Row = Mapping[str, Outcome]


def routes() -> Iterator[Route]:
    """Yield every URL of the resolver with every allowed method."""
    for name, pattern, view in _patterns(get_resolver(), "", ""):
        api = getattr(view, "view_class", None) if name.startswith("api:") else None
        methods = [m for m in ("get", "post", "put", "patch", "delete") if api is None or hasattr(api, m)]
        for method in methods if api else ("get", "post"):
            yield Route(name, method, pattern, api is not None)


def _patterns(resolver: URLResolver, above: str, space: str) -> Iterator[tuple[str, str, Any]]:
    for entry in resolver.url_patterns:
        text = above + re.sub(r"<\w+:(\w+)>", r"{\1}", str(entry.pattern))
        if isinstance(entry, URLPattern):
            yield f"{space}{entry.name or entry.pattern}", text, entry.callback
        else:
            yield from _patterns(entry, text, f"{entry.namespace}:" if entry.namespace else space)


def matrix() -> dict[Route, Row]:
    """Call every route as every principal; each call sees the same rows and is rolled back."""
    world = _World()
    found: dict[Route, Row] = {}
    for route in routes():
        if route.name == "api:nowhere" or (admin := world.outcome(route, "admin")).status == NOT_TAKEN:
            continue
        others = {who: world.outcome(route, who) for who in PRINCIPALS if who != "admin"}
        found[route] = {**others, "admin": admin}
    return found


def table(found: Mapping[Route, Row]) -> list[str]:
    """Return the lines of docs/access.md."""
    return [
        f"| `{route.call}` | " + " | ".join(str(row[who]) for who in PRINCIPALS) + " |"
        for route, row in found.items()
    ]


class _World:
    """A workspace with one object of each kind, and every principal who might access it."""

    def __init__(self) -> None:
        self._clients = _clients()
        run = factories.run()
        finish(run, simulate_document(manifests.resolve(run.input.document())))
        self._bodies = calls.bodies(run)
        self._scenario = calls.edited(run.scenario)
        self._named = calls.objects(run, self._scenario)
        self._by_route = calls.route_objects(run, self._scenario)
        self._typed = calls.form_data(run, self._scenario)
        self._run = run
        self._other = factories.run(self._scenario)
        # A token records its use once a minute, which does not count as a write by the call.
        TokenDetails.objects.update(last_used="2100-01-01T00:00:00Z")
        self._stored = _fingerprint()

    def outcome(self, route: Route, who: str) -> Outcome:
        """Return the status for a principal, and whether the call wrote anything."""
        client = self._clients[who](route.is_api)
        before = _changes()
        with transaction.atomic():
            response = self._response(client, route)
            wrote = _changes() != before and _fingerprint() != self._stored
            transaction.set_rollback(True)
        is_refused = response.status_code == 403 and route.is_api and route.method != "get"
        return Outcome(response.status_code, wrote, self._spoilt(route, who) if is_refused else {})

    def _spoilt(self, route: Route, who: str) -> dict[str, int]:
        """Return the statuses of a call with wrong bodies, without If-Match, and with a wrong parameter."""
        found = {}
        address = self._address(route)
        call = getattr(self._clients[who](route.is_api), route.method)
        for wrong, body in WRONG_BODIES.items():
            with transaction.atomic():
                response = call(address, body, content_type="application/json")
                transaction.set_rollback(True)
            found[wrong] = response.status_code
        sign = "&" if "?" in address else "?"
        found["unknown parameter"] = call(f"{address}{sign}nonsense=1").status_code
        return found

    def _response(self, client: Client, route: Route) -> HttpResponse:
        address = self._address(route)
        if route.method == "get":
            return client.get(address)
        short = route.name.partition(":")[2] or route.name
        if not route.is_api:
            return client.post(address, self._typed.get(short, {}))
        return getattr(client, route.method)(
            address,
            calls.uploaded(self._bodies[route.method, short]),
            format=calls.body_format(short),
            headers={"If-Match": calls.tag(short, self._scenario)},
        )

    def _address(self, route: Route) -> str:
        named = self._named | self._by_route.get(route.name, {})
        return "/" + route.pattern.format(**named) + self._query(route)

    def _query(self, route: Route) -> str:
        if route.method == "get" and route.name in ("api:comparisons", "planner:compare"):
            return f"?runs={self._run.pk},{self._other.pk}"
        if route.name == "api:search":
            return "?q=wait"
        if route.name in ("api:run-job-groups", "api:run-victim-groups"):
            return "?by=queue"
        if route.name == "api:run-decision-groups":
            return "?by=action"
        if route.method == "get" and route.name == "api:forecast-comparison":
            return f"?with={self._named['forecast_id']}"
        if route.name == "planner:reach":
            return "?figure=deserved&queue=waits&resource=cpu"
        if route.name == "api:scenario-reach":
            return "?figure=deserved&queue=waits&resource=cpu&at_least=1"
        if route.method == "get" and route.name == "api:scenario-rebase":
            return f"?snapshot={self._scenario.snapshot_id}"
        return ""


def _clients() -> dict[str, Callable[[bool], Client]]:
    """Return a client factory for every principal: API calls use a script, pages a browser."""
    others = Workspace.objects.create(name="others")
    outsider = factories.user("outsider", role=None)
    Membership.objects.create(workspace=others, user=outsider, role=Role.ADMIN)
    former = factories.user("former", role=Role.ADMIN)
    people = {role.value: factories.user(role.value, role=role) for role in Role}
    people |= {"outsider": outsider, "former": former}
    clients = {name: _as(_session(account), factories.token(account)) for name, account in people.items()}
    Membership.objects.filter(user=former).delete()
    admin = people["admin"]
    revoked = factories.token(admin)
    AuthToken.objects.filter(token_key=revoked[:15]).delete()
    return clients | {
        "anonymous": _as("", ""),
        "read-only token": _as("", factories.token(admin, Role.VIEWER)),
        "revoked token": _as("", revoked),
    }


def _as(session: str, token: str) -> Callable[[bool], Client]:
    """Return a client factory: a browser with the session for pages, otherwise a script with the token.

    Both are used again without the cookies of earlier responses, as each client loads all middleware once.
    """
    script, browser = APIClient(**({"HTTP_AUTHORIZATION": f"Token {token}"} if token else {})), Client()

    def client(is_api: bool) -> Client:
        used = script if is_api or (token and not session) else browser
        used.cookies.clear()
        if session and used is browser:
            used.cookies[settings.SESSION_COOKIE_NAME] = session
        return used

    return client


def _session(account: Any) -> str:
    browser = Client()
    browser.force_login(account)
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def _changes() -> int | None:
    """Return a number that is constant without writes; None if the database has no such counter."""
    return connection.connection.total_changes if connection.vendor == "sqlite" else None


def _fingerprint() -> str:
    """Return a hash of every row of every table."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names()):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - own tables
            digest.update(repr((table, sorted(map(repr, cursor.fetchall())))).encode())
    return digest.hexdigest()
