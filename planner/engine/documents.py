"""How are documents written to bytes that are the same every time?"""

import json
from collections.abc import Mapping
from typing import Any


def encoded(document: Mapping[str, Any]) -> bytes:
    r"""Return compact UTF-8 JSON in the order of the document's own keys, one newline at the end.

    >>> encoded({"name": "größer", "queues": []})
    b'{"name":"gr\xc3\xb6\xc3\x9fer","queues":[]}\n'
    """
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
