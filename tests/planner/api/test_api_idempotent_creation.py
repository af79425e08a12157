"""Every creating call, sent twice with one idempotency key, creates its object once."""

import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.api.schema import SchemaOfAll
from planner.api.urls import urlpatterns
from tests import factories
from tests.planner import calls
from tests.planner.recorded import executed

pytestmark = pytest.mark.django_db

ONCE = {"Idempotency-Key": "mine"}


def creating() -> list[Any]:
    """Return the routes of every creating call, read from the schema."""
    schema = SchemaOfAll().get_schema()
    by_address = {
        "/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern)): route for route in urlpatterns
    }
    return [
        pytest.param(by_address[path].name, path, id=by_address[path].name)
        for path, calls in schema["paths"].items()
        if {"201", "202"} & set(calls.get("post", {}).get("responses", ()))
    ]


class World:
    """One object of each kind, the bodies to send, and the client that sends them."""

    def __init__(self) -> None:
        admin = factories.user("admin", role=Role.ADMIN)
        factories.user("viewer", role=Role.VIEWER)
        self.caller = APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(admin)}")
        run = executed(factories.run())
        self.sent = calls.bodies(run)
        self.scenario = calls.edited(run.scenario)
        Client().force_login(admin)  # creates a session to refer to
        self.named = calls.route_objects(run, self.scenario)
        self.things = calls.objects(run, self.scenario)


@pytest.fixture(scope="module")
def world(rows_of_module: None) -> World:
    """The objects before each call; what a call creates is rolled back."""
    return World()


@pytest.mark.parametrize(("name", "path"), creating())
def test_a_creating_call_repeated_with_one_key_creates_once(name: str, path: str, world: World) -> None:
    address = path.format(**{**world.things, **world.named.get(f"api:{name}", {})})
    sent, revision = world.sent["post", name], str(world.scenario.revision)

    def call(body: Any) -> Any:
        body, how = calls.uploaded(body), calls.body_format(name)
        return world.caller.post(address, body, format=how, headers={**ONCE, "If-Match": revision})

    first, second = call(sent), call(sent)
    assert first.status_code in (201, 202), first.json()
    assert second.status_code == first.status_code
    assert second["Idempotency-Replayed"] == "true"
    data, again = first.json(), second.json()
    assert {key: value for key, value in data.items() if again[key] is not None} == {
        key: value for key, value in again.items() if value is not None
    }
    secret = {"tokens": "text", "invitations": "address", "run-links": "address"}.get(name)
    assert secret is None or (data[secret] and again[secret] is None)
    different = {"name": "another"} if "name" in (sent or {}) else {"another": 1}
    other = call({"file": b"another"} if name == "bundles" else {**(sent or {}), **different})
    assert other.status_code == 422
    assert other.json()["problems"][0]["rule"] == "request.idempotency_key_reused"
