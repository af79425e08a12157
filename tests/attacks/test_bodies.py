"""Limits on the bodies that strangers and members may send."""

import gc
import gzip
import io
import json
import re
import threading
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from planner.accounts.models import Role
from planner.web.middleware.bodies import (
    FILES,
    FILES_AT_ONCE,
    LARGE_ROUTES,
    LARGEST,
    LARGEST_TRACE,
    OF_FIELDS,
    PARSED_AT_ONCE,
    TRACE_ROUTES,
)
from tests import factories
from tests.planner.pages import text_of
from tests.processes.proxy import CONFIGURATION
from tests.trials import trials

pytestmark = pytest.mark.django_db

MULTIPART = "multipart/form-data; boundary=x"
FORM = "application/x-www-form-urlencoded"
TYPES = [MULTIPART, FORM, "application/json", "application/merge-patch+json", "text/plain", ""]
SMALL = 2_621_440
LARGE = {
    "/import/": LARGEST,
    "/api/v1/snapshots/": LARGEST,
    "/api/v1/bundles/": LARGEST,
    "/traces/": LARGEST_TRACE,
    "/api/v1/traces/": LARGEST_TRACE,
}
"""The addresses that take files, and how much."""
ID = "00000000-0000-0000-0000-000000000000"


class Unread(io.RawIOBase):
    """A body that must not be read."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("the body was read")


def declared(client: Client, address: str, kind: str, length: int, **headers: Any) -> Any:
    """Send the head of a request that declares `length` bytes."""
    body = {"CONTENT_LENGTH": str(length), "wsgi.input": Unread(), **headers}
    return client.generic("POST", address, b"-", content_type=kind, **body)


def routes(patterns: list[Any], before: str = "") -> list[str]:
    """Return an address for every pattern of the project."""
    found = []
    for pattern in patterns:
        address = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += routes(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern) and "(" not in address:
            found.append(filled(address))
    return found


def filled(route: str) -> str:
    parts = [
        part
        if not part.startswith("<")
        else "1"
        if part.startswith("<int")
        else ID
        if "uuid" in part
        else "x"
        for part in route.split("/")
    ]
    return "/" + "/".join(parts)


ADDRESSES = sorted(routes(get_resolver().url_patterns))


@pytest.mark.parametrize("kind", trials(TYPES, always=3))
def test_anonymous_large_bodies_are_refused_at_every_address(kind: str) -> None:
    assert len(ADDRESSES) > 100
    for address in ADDRESSES:
        answer = declared(Client(), address, kind, SMALL + 1)
        assert answer.status_code == 413, (address, answer.status_code)


@pytest.mark.parametrize("kind", trials(TYPES, always=3))
def test_editor_may_send_large_bodies_only_as_files_to_addresses_that_take_them(kind: str) -> None:
    browser = Client()
    browser.force_login(factories.user("editor"))
    large = LARGE if kind == MULTIPART else {}
    for address in ADDRESSES:
        if address not in large:
            answer = declared(browser, address, kind, SMALL + 1)
            assert answer.status_code == 413, (address, answer.status_code)
    for address, most in large.items():
        assert declared(browser, address, kind, most + 1).status_code == 413
        with pytest.raises(AssertionError, match="was read"):
            declared(browser, address, kind, most)
    assert len(LARGE_ROUTES | TRACE_ROUTES) == len(LARGE)


def test_proxy_passes_on_what_the_server_takes_and_little_more() -> None:
    sizes = re.findall(r"client_max_body_size (\d+);", CONFIGURATION.read_text(encoding="utf-8"))
    limits = (SMALL, LARGEST, LARGEST_TRACE)
    assert all(most <= int(size) < 1.1 * most for size, most in zip(sizes, limits, strict=True))


def test_urlencoded_form_has_a_smaller_limit() -> None:
    assert declared(Client(), "/login/", FORM, OF_FIELDS + 1).status_code == 413


def viewer_session() -> Client:
    browser = Client()
    browser.force_login(factories.user("viewer", role=Role.VIEWER))
    return browser


def outsider_session() -> Client:
    browser = Client()
    browser.force_login(factories.user("outsider", role=None))
    return browser


def forged_token() -> Client:
    return APIClient(HTTP_AUTHORIZATION="Token " + "a" * 64)


def viewer_token() -> Client:
    text = factories.token(factories.user("viewer", role=Role.VIEWER))
    return APIClient(HTTP_AUTHORIZATION=f"Token {text}")


@pytest.mark.parametrize("caller", [viewer_session, outsider_session, forged_token, viewer_token])
@pytest.mark.parametrize("address", LARGE)
def test_caller_without_import_rights_cannot_send_large_bodies(caller: Any, address: str) -> None:
    assert declared(caller(), address, MULTIPART, SMALL + 1).status_code == 413


def test_editor_token_may_upload_a_large_cluster() -> None:
    text = factories.token(factories.user("editor"))
    script = APIClient(HTTP_AUTHORIZATION=f"Token {text}")
    file = SimpleUploadedFile("a.yaml", json.dumps(factories.cluster()).encode() + b" " * SMALL)
    answer = script.post("/api/v1/snapshots/", {"files": file}, format="multipart")
    assert answer.status_code == 201, answer.content


def test_body_without_a_length_is_refused_unread() -> None:
    for address in ("/login/", "/api/v1/snapshots/"):
        answer = declared(Client(), address, MULTIPART, 0, HTTP_TRANSFER_ENCODING="chunked")
        assert answer.status_code == 411


def test_an_encoded_body_is_refused_with_what_to_send_instead() -> None:
    body = gzip.compress(b'{"name": "a"}')
    answer = Client().generic(
        "POST", "/api/v1/snapshots/", body, "application/json", HTTP_CONTENT_ENCODING="gzip"
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "without a Content-Encoding" in answer.json()["message"]


def test_too_large_trace_is_refused_with_the_way_to_send_it(browser: Client) -> None:
    for address in ("/traces/", "/api/v1/traces/"):
        answer = declared(browser, address, "application/json", SMALL + 1)
        assert answer.status_code == 413
        assert "Send a trace as a file, plain or compressed by gzip" in answer.content.decode()
        answer = declared(browser, address, MULTIPART, LARGEST_TRACE + 1)
        assert "Cut the trace to the days that you need." in answer.content.decode()


def test_editor_token_may_upload_a_large_trace() -> None:
    script = APIClient(HTTP_AUTHORIZATION=f"Token {factories.token(factories.user('editor'))}")
    file = SimpleUploadedFile("a.csv", factories.TRACE.encode() + b"\n" * SMALL)
    answer = script.post("/api/v1/traces/", {"name": "a", "file": file}, format="multipart")
    assert answer.status_code == 201, answer.content
    assert answer.json()["jobs"] == 4


def test_non_numeric_content_length_is_refused() -> None:
    assert declared(Client(), "/login/", FORM, "1e9").status_code == 413  # type: ignore[arg-type]


def test_refusal_is_an_api_error_or_an_html_page() -> None:
    refused = declared(Client(), "/api/v1/snapshots/", "application/json", SMALL + 1)
    assert set(refused.json()) == {"code", "message", "problems"}
    assert refused.json()["code"] == "payload_too_large"
    page = declared(Client(), "/login/", MULTIPART, SMALL + 1)
    assert "larger than 2.5 MiB" in text_of(page)


def test_too_large_pasted_text_suggests_an_upload(browser: Client) -> None:
    answer = browser.post("/import/", {"documents": "x" * (SMALL + 1)})
    assert answer.status_code == 413
    assert "upload that" in text_of(answer)


@pytest.mark.parametrize("address", ["/api/v1/conf/lint/", "/api/v1/snapshots/"])
@pytest.mark.parametrize("element", [b"[]", b'{"a":1}'])
def test_large_body_is_freed_with_its_response(api: APIClient, address: str, element: bytes) -> None:
    """Garbage that waits for collection adds up with the next body."""
    gc.collect()
    gc.disable()
    try:
        answer = api.generic("POST", address, b"[" + (element + b",") * 50_000 + b"1]", "application/json")
        kept = [one for one in gc.get_objects() if type(one) is list and len(one) > 50_000]
        assert not kept, "a body is kept"
    finally:
        gc.enable()
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize(
    ("kind", "places"), [(FORM, PARSED_AT_ONCE), (f"{FILES}; boundary=x", FILES_AT_ONCE)]
)
def test_large_bodies_never_take_all_threads(kind: str, places: int) -> None:
    arrived, release = threading.Semaphore(0), threading.Event()

    class Slow(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            arrived.release()
            release.wait(30)
            return b""

    def send() -> None:
        client.generic(
            "POST", "/login/", b"-", content_type=kind,
            **{"CONTENT_LENGTH": str(OF_FIELDS), "wsgi.input": Slow()},
        )  # fmt: skip

    client = Client(enforce_csrf_checks=True)
    client.get("/login/")
    senders = [threading.Thread(target=send, daemon=True) for _ in range(places)]
    try:
        for sender in senders:
            sender.start()
            assert arrived.acquire(timeout=30)
        one_more = declared(client, "/login/", kind, OF_FIELDS)
        assert (one_more.status_code, one_more["Retry-After"]) == (503, "5")
        assert Client().get("/login/").status_code == 200
    finally:
        release.set()
        for sender in senders:
            sender.join()


@pytest.mark.parametrize(
    ("call", "body", "unknown"),
    [
        ("POST scenarios/{scenario}/runs/", {"cycle": 5}, "cycle"),
        ("POST scenarios/{scenario}/forecasts/", {"trace": ID, "horizon_second": 60}, "horizon_second"),
        ("POST scenarios/{scenario}/branch/", {"name": "b", "nme": "c"}, "nme"),
        ("PATCH scenarios/{scenario}/", {"nam": "b"}, "nam"),
        ("POST tokens/", {"name": "t", "scope": "viewer", "day": 1}, "day"),
        (
            "POST traces/",
            {
                "name": "t",
                "generate": {"patterns": [{"queue": "a", "jobs_per_hour": 1}], "seconds": 60, "sed": 4},
            },
            "generate.sed",
        ),
        (
            "POST traces/",
            {
                "name": "t",
                "generate": {"patterns": [{"queue": "a", "jobs_per_hour": 1, "pod": {}}], "seconds": 60},
            },
            "generate.patterns[0].pod",
        ),
    ],
)
def test_a_key_that_nothing_reads_is_refused_with_the_known_ones(
    api: APIClient, call: str, body: Any, unknown: str
) -> None:
    method, address = call.format(scenario=factories.scenario().pk).split()
    answer = api.generic(method, f"/api/v1/{address}", json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    found = [(problem["path"], problem["rule"]) for problem in answer.json()["problems"]]
    assert found == [(unknown, "request.unknown")]
    assert "Known: " in answer.json()["problems"][0]["message"]
