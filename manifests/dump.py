"""Writing of objects as YAML that every Kubernetes tool reads as the same object."""

from collections.abc import Iterable, Mapping
from typing import Any

from yaml import Node, ScalarNode, dump_all
from yaml.cyaml import CSafeDumper

from manifests.scalars import NotAValue, plain_value

_TEXT = "tag:yaml.org,2002:str"


class _Dumper(CSafeDumper):
    """Quotes every text that some YAML reader would take for another type; never uses aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        tag: str = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        is_plain_text = kind is ScalarNode and tag == _TEXT and implicit[0]
        return "tag:not-a-text" if is_plain_text and not _is_text_to_kubernetes(value) else tag


def _is_text_to_kubernetes(value: str) -> bool:
    try:
        return isinstance(plain_value(value), str)
    except NotAValue:
        return False


def _write_text(dumper: _Dumper, text: str) -> ScalarNode:
    style = "|" if "\n" in text.strip("\n") else None
    return dumper.represent_scalar(_TEXT, text, style=style)


_Dumper.add_representer(str, _write_text)


def dump(objects: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> str:
    """Return one object as a YAML document, or several as documents with ``---`` between them."""
    documents = [objects] if isinstance(objects, Mapping) else list(objects)
    text: str = dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=2**20,
        explicit_start=len(documents) > 1,
    )
    return text
