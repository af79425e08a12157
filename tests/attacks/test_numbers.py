"""Numbers in bodies that exceed every number type."""

import json
from typing import Any

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.exceptions import ParseError
from rest_framework.response import Response
from rest_framework.test import APIClient
from rest_framework.views import APIView

from config import urls
from planner.api.parsers import JsonBody
from tests import factories

NUMBERS = ["1e400", "-1e400", "1E+999", "1" + "0" * 400 + ".0", "1.5e309", "NaN", "Infinity", "-Infinity"]
CALLS = [
    ("post", "queues/", '{"name": "q", "parent": "root", "weight": NUMBER}'),
    ("patch", "queues/waits/", '{"weight": NUMBER}'),
    ("patch", "queues/waits/", '{"capability": {"cpu": NUMBER}}'),
    ("patch", "queues/waits/", '{"metadata": {"annotations": {"a": NUMBER}}}'),
    ("post", "nodes/", '{"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": NUMBER}}}'),
    ("post", "nodes/add/", '{"count": NUMBER, "prefix": "n", "capacity": {"cpu": "1"}}'),
    ("post", "nodes/add/", '{"count": 1, "prefix": "n", "capacity": {"cpu": NUMBER}}'),
    ("patch", "nodes/n1/", '{"metadata": {"labels": {"a": NUMBER}}}'),
    ("post", "workloads/", '{"job": {"name": "j", "queue": "waits", "replicas": NUMBER}}'),
    ("patch", "workloads/podgroups/default/run/", '{"minMember": NUMBER}'),
    ("post", "runs/", '{"cycles": NUMBER}'),
    ("patch", "conf/", '[{"op": "add", "path": "/a", "value": NUMBER}]'),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "call", "body"), CALLS)
def test_unrepresentable_number_is_refused_with_the_standard_error_body(
    api: APIClient, method: str, call: str, body: str
) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}/{call}"
    kind = "application/json-patch+json" if call == "conf/" else "application/json"
    for number in NUMBERS:
        answer = api.generic(
            method.upper(), at, body.replace("NUMBER", number), content_type=kind, headers={"If-Match": "1"}
        )
        assert answer.status_code == 400, (number, answer.content)
        assert set(answer.json()) == {"code", "message", "problems"}
        assert answer.json()["code"] == "parse_error"


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "call", "body"), CALLS)
def test_huge_integer_does_not_cause_a_server_error(
    api: APIClient, method: str, call: str, body: str
) -> None:
    at = f"/api/v1/scenarios/{factories.scenario().pk}/{call}"
    kind = "application/json-patch+json" if call == "conf/" else "application/json"
    for number in ("1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 18, str(2**63), "1e300", "-1e300"):
        answer = api.generic(
            method.upper(), at, body.replace("NUMBER", number), content_type=kind, headers={"If-Match": "1"}
        )
        assert answer.status_code < 500, (number, answer.content)


class _Body:
    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> bytes:
        return self._text.encode()


@given(
    st.recursive(
        st.from_regex(r"-?(0|[1-9][0-9]{0,330})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?", fullmatch=True),
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"[{','.join(parts)}]"),
    )
)
def test_parsed_json_can_be_serialized_again(text: str) -> None:
    try:
        value = JsonBody().parse(_Body(text))  # type: ignore[arg-type]
    except ParseError:
        return
    json.dumps(value, allow_nan=False)


class _Unwritable(APIView):
    permission_classes = ()

    def get(self, request: HttpRequest) -> Response:
        return Response({"share": float("inf")})


@login_not_required
def _absent(request: HttpRequest) -> HttpResponse:
    raise Http404


class _Urls:
    urlpatterns = [
        path("api/v1/unwritable", _Unwritable.as_view()),
        path("api/v1/absent", _absent),
        *urls.urlpatterns,
    ]
    handler400, handler404, handler500 = urls.handler400, urls.handler404, urls.handler500


@pytest.mark.django_db
def test_unserializable_response_gets_the_standard_error_body(rf: RequestFactory) -> None:
    script: Any = Client(raise_request_exception=False)
    with override_settings(ROOT_URLCONF=_Urls):
        for address, status in (("unwritable", 500), ("absent", 404)):
            answer = script.get(f"/api/v1/{address}")
            assert answer.status_code == status
            assert set(answer.json()) == {"code", "message", "problems"}
