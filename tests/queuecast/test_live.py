"""Reading a cluster through a kubeconfig, from an API server on loopback that serves recorded objects."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from queuecast.__main__ import main
from queuecast.live import READ
from tests import factories
from tests.conftest import unavailable

ROLE = Path(__file__).parents[2] / "docs" / "queuecast-reader.yaml"
TOKEN = "reader-token"
CONFIGURATION = "api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap"


class ApiServer(ThreadingHTTPServer):
    """Returns lists in pages of ten, as an API server does for `limit`, and rejects a wrong token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        cluster = factories.cluster()
        self.lists: dict[str, list[Any]] = {
            f"{group}/{plural}": cluster.get(plural, []) for group, _, plural in READ
        }
        self.missing: set[str] = set()
        self.forbidden: set[str] = set()
        self.expires: dict[str, int] = {}
        """How often a request for the second page of a list returns 410 Expired."""
        self.calls: list[tuple[str, str]] = []


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def do_GET(self) -> None:
        requested = urlsplit(self.path)
        path = requested.path.lstrip("/")
        self.server.calls.append((self.command, path))
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.answer(401, {"kind": "Status"})
        elif path in self.server.forbidden:
            self.answer(403, {"kind": "Status"})
        elif "continue=" in requested.query and self.server.expires.get(path, 0):
            self.server.expires[path] -= 1
            self.answer(410, {"kind": "Status", "reason": "Expired"})
        elif path == CONFIGURATION and path not in self.server.missing:
            self.answer(200, {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "volcano-scheduler-configmap", "namespace": "volcano-system"},
                "data": {"volcano-scheduler.conf": factories.CONF},
            })  # fmt: skip
        elif path in self.server.lists and path not in self.server.missing:
            self.answer(200, self.page(self.server.lists[path], parse_qs(requested.query)))
        else:
            self.answer(404, {"kind": "Status"})

    def page(self, objects: list[Any], query: dict[str, list[str]]) -> dict[str, Any]:
        first = int(query.get("continue", ["0"])[0])
        shown = [
            {key: value for key, value in held.items() if key not in ("apiVersion", "kind")}
            for held in objects[first : first + 10]
        ]
        more = str(first + 10) if first + 10 < len(objects) else ""
        return {"kind": "List", "metadata": {"continue": more}, "items": shown}

    def answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def running_api_server() -> Iterator[ApiServer]:
    """Yield a running API server on loopback."""
    try:
        import kubernetes  # noqa: F401
    except ImportError:
        unavailable("the Kubernetes client is not installed")
    server = ApiServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server() -> Iterator[ApiServer]:
    yield from running_api_server()


def read(server: ApiServer, folder: Path, *more: str, token: str = TOKEN) -> int:
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            "users": [{"name": "reader", "user": {"token": token}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "reader"}}],
        })
    )  # fmt: skip
    return main([
        "import", "--cluster", "--kubeconfig", str(kubeconfig), "--name", "live",
        "--local", "--folder", str(folder / "backend"), "-o", "json", *more,
    ])  # fmt: skip


def test_all_objects_are_read_page_by_page_with_the_configuration(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read(server, tmp_path) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert {kind: counts[kind] for kind in ("nodes", "queues", "podgroups", "pods")} == {
        "nodes": 2, "queues": 2, "podgroups": 2, "pods": 20,
    }  # fmt: skip
    kept = json.loads((tmp_path / "backend" / "snapshots" / "live.json").read_text())
    assert kept["document"]["scheduler_conf"] == factories.CONF
    assert {method for method, _ in server.calls} == {"GET"}


def test_kinds_and_configuration_missing_from_the_cluster_are_named(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.missing = {"apis/batch.volcano.sh/v1alpha1/jobs", CONFIGURATION}
    assert read(server, tmp_path) == 0
    output = capsys.readouterr().err
    assert "note: The cluster does not know jobs of batch.volcano.sh/v1alpha1: there are none." in output
    assert "note: There is no ConfigMap volcano-system/volcano-scheduler-configmap" in output


def test_a_cluster_without_volcano_is_refused(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.missing = {"apis/scheduling.volcano.sh/v1beta1/queues"}
    assert read(server, tmp_path) == 2
    assert "Volcano's CRDs are not installed" in capsys.readouterr().err


def test_the_config_map_option_names_another_configmap(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read(server, tmp_path, "--config-map", "batch/scheduler") == 0
    assert "There is no ConfigMap batch/scheduler" in capsys.readouterr().err
    assert ("GET", "api/v1/namespaces/batch/configmaps/scheduler") in server.calls


def test_a_list_that_expires_while_it_is_read_is_read_again(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.expires = {"api/v1/pods": 2}
    assert read(server, tmp_path) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["pods"] == 20
    server.expires = {"api/v1/pods": 99}
    assert read(server, tmp_path) == 2
    assert "expired 3 times" in capsys.readouterr().err


def test_a_forbidden_list_is_named_with_the_required_role(
    server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.forbidden = {"apis/scheduling.volcano.sh/v1beta1/queues"}
    assert read(server, tmp_path) == 2
    output = capsys.readouterr().err
    assert "apis/scheduling.volcano.sh/v1beta1/queues: 403" in output
    assert "docs/queuecast-reader.yaml" in output
    assert read(server, tmp_path, token="wrong") == 2
    output = capsys.readouterr().err
    assert "does not accept the credentials of the kubeconfig (401). Log in again" in output
    assert "docs/queuecast-reader.yaml" not in output


def test_the_documented_role_allows_only_what_is_read() -> None:
    role = next(iter(yaml.safe_load_all(ROLE.read_text())))
    allowed = {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    read_from = {(re.sub(r"^apis?/(?:([^/]+)/)?v\w+$", r"\1", group), plural) for group, _, plural in READ}
    listed = {(group, resource) for group, resource, verb in allowed if verb == "list"}
    assert listed == read_from
    assert {verb for _, _, verb in allowed} == {"get", "list"}
    assert ("", "configmaps", "get") in allowed
