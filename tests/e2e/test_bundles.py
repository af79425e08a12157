"""A bundle of a run, imported by another installation with its own database, gives the same bytes."""

import json
import time
from urllib.request import Request, urlopen

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from planner.runs.services.bundles import bundle_export
from tests import factories
from tests.e2e.product import Product
from tests.e2e.test_scripts import call
from tests.worker import do_work

PATIENCE_SECONDS = 60


@pytest.fixture
def bundle(transactional_db: None) -> tuple[bytes, bytes, bytes]:
    """The bundle of a run in the database of this process, with its input and its result."""
    run = factories.run()
    do_work(run)
    assert run.result is not None, run.error
    return bundle_export(run=run), run.input.content(), run.result.content()


def test_another_installation_reproduces_a_run_byte_for_byte(
    running: Product, bundle: tuple[bytes, bytes, bytes]
) -> None:
    content, read, came_to = bundle
    token = running.token()
    form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("run.zip", content)})
    body = json.loads(raw(f"{running.address}api/v1/bundles/", token, form))
    run = f"{running.address}api/v1/runs/{body['run']['id']}/"
    until = time.monotonic() + PATIENCE_SECONDS
    while not call(run, token)["finished"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    assert call(run, token)["result_sha256"] == body["result_sha256"]
    assert raw(f"{run}input/", token) == read
    assert raw(f"{run}result/", token) == came_to


def raw(address: str, token: str, form: bytes | None = None) -> bytes:
    """Return the bytes of a response."""
    headers = {"Authorization": f"Token {token}", "Content-Type": MULTIPART_CONTENT}
    request = Request(address, form, headers)  # noqa: S310 - our own address
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - our own address
        content: bytes = answer.read()
        return content
