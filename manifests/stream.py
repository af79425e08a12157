"""Which documents does a text hold, be it YAML, JSON or one after the other?"""

import re
from collections.abc import Iterator

from manifests.document import Document
from manifests.json_stream import read_json
from manifests.yaml_stream import read_yaml

_BETWEEN = re.compile(r"(?:[ \t\r\n]+|^---[ \t]*$)*", re.MULTILINE)
_NEXT_DOCUMENT = re.compile(r"^(?:[{\[]|---)", re.MULTILINE)


def read_documents(text: str) -> Iterator[Document]:
    """Yield the documents of a text; one that cannot be read costs only itself."""
    end = 0
    position = _content(text, 0)
    while text[position : position + 1] in ("{", "["):
        document, stopped = read_json(text, position)
        if _is_unreadable(document):
            as_yaml = next(read_yaml(text, position))
            if as_yaml.value is not None:
                break
            following = _NEXT_DOCUMENT.search(text, max(stopped, position + 1))
            stopped = following.start() if following else len(text)
        yield document
        end = stopped
        position = _content(text, end)
    if position < len(text):
        line_start = text.rfind("\n", 0, position) + 1  # its indentation belongs to a YAML document
        yield from read_yaml(text, max(end, line_start))


def _content(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _is_unreadable(document: Document) -> bool:
    return document.value is None and bool(document.faults)
