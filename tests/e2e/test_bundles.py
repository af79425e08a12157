"""A bundle of a run, imported by another installation with its own database, gives the same bytes."""

import json
import time
from base64 import b64decode
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.e2e.product import Product
from tests.e2e.test_scripts import call
from tests.processes.installation import Installation

PATIENCE_SECONDS = 60


@pytest.fixture
def bundle(tmp_path: Path) -> list[bytes]:
    """The bundle of a run in an installation of its own, with its input and its result."""
    installation = Installation(tmp_path / "other", {})
    try:
        return [b64decode(part) for part in installation.drive("exported_run")]
    finally:
        installation.close()


def test_another_installation_reproduces_a_run_byte_for_byte(running: Product, bundle: list[bytes]) -> None:
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
