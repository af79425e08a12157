"""The scheduler configuration in a file: its own text, or the ConfigMap that contains it."""

import manifests
from manifests.stream import read_documents
from queuecast.plans import read_changes
from queuecast.problems import Refused, refusal


def conf_text(label: str, content: bytes) -> str:
    """Return the configuration in a file: its own text, or that of the ConfigMap in it."""
    return _conf_in(label, content) if is_manifest(content) else _decoded(label, content)


def is_manifest(content: bytes) -> bool:
    """Return whether a file holds Kubernetes objects instead of a configuration's own text."""
    documents = read_documents(content.decode(errors="replace"))
    return any(isinstance(one.value, dict) and "kind" in one.value for one in documents)


def _conf_in(label: str, content: bytes) -> str:
    reading = read_changes([(label, content)])
    if reading.scheduler_conf_text is None:
        fix = f"name the file with ConfigMap {manifests.CONF_MAP}"
        message = f"there is no {manifests.CONF_KEY} in this file"
        raise refusal(
            [{"rule": "conf.missing", "severity": "error", "message": message, "document": label, "fix": fix}]
        )
    return reading.scheduler_conf_text


def _decoded(label: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(f"{label} is not UTF-8 text.") from None
