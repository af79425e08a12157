"""An extender: an HTTP server that speaks the protocol of Volcano's plugin."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
Reply = Any
"""An object (answered as JSON with status 200), or a `Raw`."""
Rule = Callable[[Json], Reply]


class Raw:
    """A raw HTTP response."""

    def __init__(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        wait: float = 0.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.body = body
        self.status = status
        self.wait = wait
        self.headers = dict(headers or {})


TASK_KEYS = {
    "UID",
    "Job",
    "Name",
    "Namespace",
    "TaskRole",
    "Resreq",
    "InitResreq",
    "DRAResreq",
    "ResourceClaimKeys",
    "ResourceClaimDRAResreq",
    "NodeName",
    "EvictionOccurred",
    "JobAllocatedHyperNode",
    "Status",
    "LastTransaction",
    "Priority",
    "VolumeReady",
    "Preemptable",
    "BestEffort",
    "HasRestartableInitContainer",
    "SchGated",
    "RevocableZone",
    "NumaInfo",
    "Pod",
    "CustomBindErrHandlerSucceeded",
}
REQUEST_KEYS = {
    "onSessionOpen": {"Jobs", "Nodes", "Queues", "NamespaceInfo", "RevocableNodes", "NodeList"},
    "onSessionClose": set(),
    "predicate": {"task", "node"},
    "prioritize": {"task", "nodes"},
    "preemptable": {"evictor", "evictees"},
    "reclaimable": {"evictor", "evictees"},
    "queueOverused": {"queue"},
    "jobEnqueueable": {"job"},
    "jobReady": {"job"},
    "allocateFunc": {"task"},
    "deallocateFunc": {"task"},
}


def neutral(verb: str) -> Rule:
    """Return a response that does not change what the scheduler does without the extender."""
    answers: dict[str, Rule] = {
        "predicate": lambda _request: {"status": "", "code": 0},
        "prioritize": lambda request: {"nodeScore": {node["Name"]: 0 for node in request["nodes"] or ()}},
        "preemptable": lambda _request: {"status": 0},
        "reclaimable": lambda _request: {"status": 0},
        "queueOverused": lambda _request: {"overused": False},
        "jobEnqueueable": lambda _request: {"status": 0},
        "jobReady": lambda _request: {"status": True},
    }
    return answers.get(verb, lambda _request: {"errorMessage": ""})


class ExtenderServer:
    """A server on a free local port; it answers neutrally unless a verb has a rule.

    Attributes
    ----------
    requests : list of (str, dict)
        The verb and the body of every request, in order.
    complaints : list of str
        The problems found in requests.

    """

    def __init__(self, **rules: Rule | Reply) -> None:
        self.rules: dict[str, Rule] = {
            verb: rule if callable(rule) else lambda _request, fixed=rule: fixed
            for verb, rule in rules.items()
        }
        self.requests: list[tuple[str, Json]] = []
        self.complaints: list[str] = []
        self.connections = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> ExtenderServer:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """Return the host and the port."""
        address, port = self._server.server_address[:2]
        return f"{address!s}:{port}"

    @property
    def prefix(self) -> str:
        """Return the value of `extender.urlPrefix`."""
        return f"http://{self.host}"

    def verbs(self) -> list[str]:
        """Return the verbs of all requests, in order."""
        return [verb for verb, _ in self.requests]

    def bodies(self, verb: str) -> list[Json]:
        """Return the bodies of all requests of one verb."""
        return [body for query, body in self.requests if query == verb]

    def answer(self, verb: str, raw: bytes, headers: Mapping[str, str]) -> Raw:
        """Return the response to a request."""
        if headers.get("Content-Type") != "application/json":
            self.complaints.append(f"{verb}: the request is not JSON")
        body = json.loads(raw)
        self.requests.append((verb, body))
        if body.keys() != REQUEST_KEYS.get(verb):
            self.complaints.append(f"{verb}: keys {sorted(body)}")
        for key in ("task", "evictor"):
            if key in body and body[key].keys() != TASK_KEYS:
                self.complaints.append(f"{verb}: a task has the keys {sorted(body[key])}")
        reply = self.rules.get(verb, neutral(verb))(body)
        return reply if isinstance(reply, Raw) else Raw(json.dumps(reply).encode())


def _handler(extender: ExtenderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            extender.connections += 1
            super().setup()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            reply = extender.answer(self.path.removeprefix("/"), raw, self.headers)
            if reply.wait:
                threading.Event().wait(reply.wait)
            body = reply.body
            try:
                self.send_response(reply.status)
                if reply.headers.get("Content-Encoding") == "gzip":
                    body = gzip.compress(body)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *_arguments: object) -> None:
            return

    return Handler
