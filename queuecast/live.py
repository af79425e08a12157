"""What is in the cluster of the user's kubeconfig? Read by the official client, with get and list only."""

import json
from collections.abc import Iterator
from typing import Any

from queuecast.desk import Files
from queuecast.problems import Refused

PAGE = 500
"""Objects in one answer of the API server."""

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
_ASK = "Request the role in docs/queuecast-reader.yaml."
CONFIGURATION = "api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap"


def cluster_files(*, kubeconfig: str | None, context: str | None) -> Files:
    """Return every object that the scheduler reads, as the files that `kubectl get -o json` would write."""
    cluster = _Cluster(kubeconfig, context)
    files = [(f"{plural}.json", cluster.listing(group, kind, plural)) for group, kind, plural in READ]
    configuration = cluster.get(CONFIGURATION)
    if configuration is not None:
        files.append(("scheduler.json", json.dumps(configuration).encode()))
    return files


class _Cluster:
    """The API server that a kubeconfig names."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        try:
            from kubernetes import config
        except ImportError:
            raise Refused("Install the Kubernetes client: pip install 'queuecast[cluster]'.") from None
        try:
            self._api: Any = config.new_client_from_config(  # type: ignore[no-untyped-call]
                kubeconfig, context, persist_config=False
            )
        except config.ConfigException as error:
            raise Refused(f"The kubeconfig cannot be used: {error}") from None

    def listing(self, group: str, kind: str, plural: str) -> bytes:
        """Return all objects of a kind as a List; none when the cluster does not know the kind."""
        version = group.partition("/")[2]
        items = [{"apiVersion": version, "kind": kind, **item} for item in self._items(f"{group}/{plural}")]
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()

    def get(self, path: str, **query: str) -> Any:
        """Return what a path answers, None when there is nothing."""
        asked = self._api.param_serialize(
            "GET",
            f"/{path}",
            query_params=list(query.items()),
            header_params={"Accept": "application/json"},
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(*asked)
            content = answer.read()
        except Exception as error:  # whatever the client's transport raises
            raise Refused(f"The cluster does not respond: {error}") from None
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise Refused(f"The cluster refused {path}: {answer.status} {answer.reason}. {_ASK}")
        return json.loads(content)

    def _items(self, path: str) -> Iterator[dict[str, Any]]:
        more = ""
        while True:
            page = self.get(path, limit=str(PAGE), **({"continue": more} if more else {})) or {}
            yield from page.get("items") or ()
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return
