"""Export of the cluster of the user's kubeconfig, by the official client, with get and list only."""

import json
from http import HTTPStatus
from typing import Any

from queuecast.backend import Files
from queuecast.problems import Refused

PAGE = 500
"""The number of objects in one response of the API server."""

READ = (
    ("api/v1", "Node", "nodes"),
    ("api/v1", "Namespace", "namespaces"),
    ("api/v1", "Pod", "pods"),
    ("api/v1", "ResourceQuota", "resourcequotas"),
    ("apis/scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    ("apis/policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("apis/scheduling.volcano.sh/v1beta1", "Queue", "queues"),
    ("apis/scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups"),
    ("apis/batch.volcano.sh/v1alpha1", "Job", "jobs"),
)
_VOLCANO = ("Queue", "PodGroup")
"""Kinds without which Volcano is not installed."""
_ASK = "Request the role in docs/queuecast-reader.yaml."
CONFIG_MAP = "volcano-system/volcano-scheduler-configmap"
_RESTARTS = 3
"""How often a list whose pages expired is restarted."""


class _Expired(Exception):
    """The API server has dropped the rest of a list."""


def cluster_files(
    *, kubeconfig: str | None, context: str | None, config_map: str = CONFIG_MAP
) -> tuple[Files, list[str]]:
    """Return all that the scheduler reads, as `kubectl get -o json` writes it, and what is missing.

    `config_map` is namespace/name of the scheduler's configuration.
    """
    cluster = _Cluster(kubeconfig, context)
    files, notes = [], []
    for group, kind, plural in READ:
        items = cluster.items(f"{group}/{plural}")
        if items is None and kind in _VOLCANO:
            fix = "Volcano's CRDs are not installed. Name another --kube-context, or install Volcano."
            raise Refused(f"{_lacks(group, plural)}: {fix}", code="not_found")
        if items is None:
            notes.append(f"{_lacks(group, plural)}: there are none.")
        files.append((f"{plural}.json", _listing(group, kind, items or [])))
    namespace, _, name = config_map.partition("/")
    configuration = cluster.get(f"api/v1/namespaces/{namespace}/configmaps/{name}")
    if configuration is None:
        assumed = "Volcano's default configuration is assumed; --config-map names another"
        notes.append(f"There is no ConfigMap {config_map}: {assumed}.")
    else:
        files.append(("scheduler.json", json.dumps(configuration).encode()))
    return files, notes


def _lacks(group: str, plural: str) -> str:
    return f"The cluster does not know {plural} of {group.removeprefix('apis/')}"


def _listing(group: str, kind: str, items: list[dict[str, Any]]) -> bytes:
    version = group.partition("/")[2]
    typed = [{"apiVersion": version, "kind": kind, **item} for item in items]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": typed}).encode()


class _Cluster:
    """The API server of a kubeconfig."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        try:
            from kubernetes import config
        except ImportError:
            raise Refused("Install the Kubernetes client: pip install 'queuecast[cluster]'.") from None
        try:
            self._api: Any = config.new_client_from_config(kubeconfig, context, persist_config=False)
        except config.ConfigException as error:
            raise Refused(f"The kubeconfig cannot be used: {error}") from None

    def items(self, path: str) -> list[dict[str, Any]] | None:
        """Return all objects of a kind, page by page; None when the cluster does not know the kind.

        The rest of a long list expires after some minutes; the list is then read again from the beginning.
        """
        for _ in range(_RESTARTS):
            try:
                return self._pages(path)
            except _Expired:
                continue
        raise Refused(f"The list {path} expired {_RESTARTS} times while it was read. Try again.")

    def get(self, path: str, **query: str) -> Any:
        """Return the response to a path, None for 404."""
        request = self._api.param_serialize(
            "GET",
            f"/{path}",
            query_params=list(query.items()),
            header_params={"Accept": "application/json"},
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(*request)
            content = answer.read()
        except Exception as error:  # any exception of the client's transport
            raise Refused(f"The cluster does not respond: {error}") from None
        if answer.status == HTTPStatus.NOT_FOUND:
            return None
        if answer.status == HTTPStatus.GONE:
            raise _Expired
        if answer.status == HTTPStatus.UNAUTHORIZED:
            fix = "Log in again, or name another --kube-context or --kubeconfig."
            raise Refused(f"The cluster does not accept the credentials of the kubeconfig (401). {fix}")
        if answer.status == HTTPStatus.FORBIDDEN:
            raise Refused(f"The cluster refused {path}: 403 {answer.reason}. {_ASK}")
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise Refused(f"The cluster answered {path} with {answer.status} {answer.reason}.")
        return json.loads(content)

    def _pages(self, path: str) -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = []
        more = ""
        while True:
            page = self.get(path, limit=str(PAGE), **({"continue": more} if more else {}))
            if page is None:
                return None
            found += page.get("items") or ()
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return found
