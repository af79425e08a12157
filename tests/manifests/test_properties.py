import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import manifests
from manifests.document import Steps
from manifests.paths import spell, steps_to
from manifests.stream import read_documents
from tests.trials import examples

# Strings of JSON in UTF-8; NUL and lone surrogates are refused on purpose.
texts = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20
) | st.sampled_from(
    [
        "yes",
        "n",
        "on",
        "1e3",
        "012",
        "0x1F",
        "1_000",
        "2026-03-02",
        "~",
        "",
        "<<",
        "- a",
        "a: b",
        "#",
        "a\n b\n",
        "\n",
    ]
)
keys = texts.filter(bool)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
mappings = st.dictionaries(keys, values, min_size=1, max_size=4)


@given(mappings)
@examples(always=25, many=60)
def test_a_dumped_value_is_read_back_unchanged(value: dict[str, Any]) -> None:
    (document,) = read_documents(manifests.dump(value))
    assert document.faults == []
    assert same(document.value, value)


@given(st.lists(mappings, min_size=1, max_size=4))
@examples(always=25, many=60)
def test_several_objects_are_dumped_as_documents(values: list[dict[str, Any]]) -> None:
    read = [document.value for document in read_documents(manifests.dump(values))]
    assert same(read, values)


@given(mappings)
@examples(always=25, many=60)
def test_json_and_yaml_of_a_value_are_read_as_equal_values(value: dict[str, Any]) -> None:
    (from_yaml,) = read_documents(manifests.dump(value))
    (from_json,) = read_documents(json.dumps(value))
    assert same(from_yaml.value, from_json.value)


names = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,3}/[a-z]{1,3})?", fullmatch=True)
trees = st.recursive(
    st.integers(0, 9) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(names, trees, min_size=1, max_size=4))
@examples(always=25, many=60)
def test_every_key_is_found_on_its_line(spec: dict[str, Any]) -> None:
    item = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": spec}
    whole = {"apiVersion": "v1", "kind": "List", "items": [item, {**item, "metadata": {"name": "m"}}]}
    for text in (json.dumps(whole, indent=2), manifests.dump(whole)):
        reading = manifests.read([("f", text.encode())])
        lines = text.split("\n")
        seen = 0
        for steps in keys_of(spec):
            found = reading.line_of(spell(("nodes", 1, "spec", *steps)))
            assert found is not None
            line = found[1]
            assert lines[line - 1].lstrip(" -").lstrip("'\"").startswith(str(steps[-1]))
            assert line >= seen  # keys are in the order of the object
            seen = line


@given(mappings)
@examples(always=25, many=60)
def test_every_path_is_parsed_back_into_its_steps(value: dict[str, Any]) -> None:
    for steps in keys_of(value):
        assert steps_to(value, spell(steps)) == steps


def keys_of(value: Any, way: Steps = ()) -> Iterator[Steps]:
    """Yield the paths of all keys of a value, in order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*way, key)
            yield from keys_of(inner, (*way, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from keys_of(inner, (*way, index))


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, with equal types at every level."""
    return json.dumps(one) == json.dumps(other)
