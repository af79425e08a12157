"""Reading of documents, and encoding to reproducible bytes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def encoded(document: Mapping[str, Any]) -> bytes:
    r"""Return compact UTF-8 JSON in the order of the document's own keys, one newline at the end.

    >>> encoded({"name": "größer", "queues": []})
    b'{"name":"gr\xc3\xb6\xc3\x9fer","queues":[]}\n'
    """
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def items(listed: Any) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list, which may be written as a Kubernetes List."""
    return listed.get("items") or [] if isinstance(listed, Mapping) else listed or []
