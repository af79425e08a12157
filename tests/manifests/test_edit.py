"""An edit of a configuration makes the requested change and leaves every other line unchanged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manifests import NoEdit, NoPlace, Operation, Unreadable, edited, parse_conf, patched, pointer
from tests.trials import examples, trials

PLUGINS = ("gang", "priority", "drf", "binpack", "my-own")
KEPT = ("# why it is so", "      # further in", "", "# tiers: [none]")
BEHIND = ("", " # a comment", "   ")
SWITCHES = ("enablePreemptable", "enableJobOrder", "enabledVictim", "enableX")
VALUES = ("true", "false", "'yes'", '"on"', "~", "")
ARGUMENTS = (
    "weight: 3",
    "shape: [1, 2]",
    "'binpack.cpu': \"07\"",
    "text: |\n  # no comment\n  two",
    "half: 1.0",
)


class Line(NamedTuple):
    """A line of a configuration, and the path of the smallest part that it belongs to."""

    text: str
    steps: tuple[str | int, ...]


@st.composite
def configurations(draw: st.DrawFn) -> tuple[list[Line], str, bool]:
    """Return the lines of a configuration, the line ending, and whether the last line has one."""
    lines: list[Line] = []

    def draw_from(choices: tuple[Any, ...]) -> Any:
        return draw(st.sampled_from(choices))

    def comment(steps: tuple[str | int, ...]) -> None:
        lines.extend(Line(text, steps) for text in draw(st.lists(st.sampled_from(KEPT), max_size=2)))

    outer, inner = " " * draw_from((0, 2, 4)), " " * draw_from((0, 2))
    comment(())
    quote = draw_from(('"', "'", ""))
    lines.append(Line(f"actions: {quote}enqueue, allocate{quote}{draw_from(BEHIND)}", ("actions",)))
    comment(())
    lines.append(Line(f"tiers:{draw_from(BEHIND)}", ("tiers", "key")))
    for tier in range(draw(st.integers(1, 3))):
        comment(("tiers",))
        at: tuple[str | int, ...] = ("tiers", tier, "plugins")
        lines.append(Line(f"{outer}- plugins:{draw_from(BEHIND)}", (*at, "key")))
        for number in range(draw(st.integers(1, 3))):
            comment(at)
            _plugin(draw, lines, f"{outer}  {inner}", (*at, number))
    comment(())
    lines.append(Line("x-unknown: {a: [1, 2 ], b: 'c'}", ("x-unknown",)))
    return lines, draw_from(("\n", "\r\n")), draw(st.booleans())


def _plugin(draw: st.DrawFn, lines: list[Line], indent: str, at: tuple[str | int, ...]) -> None:
    name = draw(st.sampled_from(PLUGINS))
    if draw(st.integers(0, 4)) == 0:
        behind = draw(st.sampled_from(BEHIND))
        lines.append(Line(f"{indent}- {{name: {name}, 'enableX': false}}{behind}", (*at, "flow")))
        return
    lines.append(Line(f"{indent}- name: {name}{draw(st.sampled_from(BEHIND))}", (*at, "name")))
    for switch in draw(st.lists(st.sampled_from(SWITCHES), unique=True, max_size=2)):
        value = draw(st.sampled_from(VALUES))
        lines.append(Line(f"{indent}  {switch}: {value}{draw(st.sampled_from(BEHIND))}", (*at, switch)))
        if draw(st.booleans()):
            lines.append(Line(f"{indent}  # inside", at))
    if arguments := draw(st.lists(st.sampled_from(ARGUMENTS), unique=True, max_size=3)):
        lines.append(Line(f"{indent}  arguments:", (*at, "arguments", "key")))
        for argument in arguments:
            key = argument.split(":")[0].strip("'")
            lines += [Line(f"{indent}    {line}", (*at, "arguments", key)) for line in argument.split("\n")]


def joined(lines: list[Line], end: str, finished: bool) -> str:
    text = end.join(line.text for line in lines)
    return text + end if finished else text


def other_lines(lines: list[Line], *ways: tuple[str | int, ...]) -> list[str]:
    """Return the lines that belong to none of these parts."""
    return [line.text for line in lines if not any(line.steps[: len(way)] == way for way in ways)]


def appear_in_order(kept: list[str], text: str) -> bool:
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    return all(any(line == other for other in lines) for line in kept)


def plugins(structure: Any) -> Iterator[tuple[str | int, ...]]:
    for tier, entry in enumerate(structure["tiers"]):
        for number in range(len(entry.get("plugins") or [])):
            yield "tiers", tier, "plugins", number


def checked_edit(text: str, operation: Operation) -> str:
    """Edit a text, and check that its value is that of the patched structure."""
    new = edited(text, [operation])
    assert sorted_keys(parse_conf(new)) == sorted_keys(patched(parse_conf(text), operation))
    if "\r\n" in text:
        assert new.count("\n") == new.count("\r\n")
    return new


def sorted_keys(value: Any) -> Any:
    """Return a comparable form of a value that distinguishes true from 1 and ignores the order of keys."""
    if isinstance(value, dict):
        return sorted((key, sorted_keys(inner)) for key, inner in value.items())
    return [sorted_keys(inner) for inner in value] if isinstance(value, list) else repr(value)


@examples(always=25, many=60)
@given(configurations(), st.data())
def test_removing_a_part_removes_only_its_own_lines(
    conf: tuple[list[Line], str, bool], data: st.DataObject
) -> None:
    lines, text = conf[0], joined(*conf)
    structure = parse_conf(text)
    places = [("tiers", number) for number in range(len(structure["tiers"]))]
    steps = data.draw(st.sampled_from([*places, *plugins(structure)]))
    new = checked_edit(text, Operation("remove", pointer(*steps)))
    holder = steps[:-1]
    assert appear_in_order(other_lines(lines, steps, (*holder, "key")), new)


@examples(always=25, many=60)
@given(configurations(), st.data())
def test_moving_a_plugin_keeps_its_lines(conf: tuple[list[Line], str, bool], data: st.DataObject) -> None:
    lines, text = conf[0], joined(*conf)
    structure = parse_conf(text)
    source = data.draw(st.sampled_from([*plugins(structure)]))
    tier = data.draw(st.integers(0, len(structure["tiers"]) - 1))
    places = len(structure["tiers"][tier]["plugins"]) - (source[1] == tier)
    target = ("tiers", tier, "plugins", data.draw(st.integers(0, places)))
    new = checked_edit(text, Operation("move", pointer(*target), source=pointer(*source)))
    assert appear_in_order(other_lines(lines, source, (*source[:-1], "key"), (*target[:-1], "key")), new)
    assert {line.text.strip() for line in lines} - {line.strip() for line in new.splitlines()} <= {
        line.text.strip() for line in lines if line.steps[-1:] in (("key",), ("flow",))
    }


@examples(always=25, many=60)
@given(
    configurations(),
    st.data(),
    st.sampled_from([True, False, 7, 1.5, "on", "a: b # c", "", None, [], ["x"], {"y": {"z": "1e3"}}]),
)
def test_setting_a_value_changes_only_its_own_lines(
    conf: tuple[list[Line], str, bool], data: st.DataObject, value: Any
) -> None:
    lines, text = conf[0], joined(*conf)
    structure = parse_conf(text)
    at = data.draw(st.sampled_from([*plugins(structure)]))
    entry = structure["tiers"][at[1]]["plugins"][at[3]]
    key = data.draw(st.sampled_from([*entry, "enableNew", "new.one/two~three"]))
    new = checked_edit(text, Operation("add", pointer(*at, key), value))
    assert appear_in_order(other_lines(lines, (*at, key), (*at, "flow")), new)


@examples(always=25, many=60)
@given(configurations(), st.data())
def test_adding_a_part_leaves_all_other_lines_unchanged(
    conf: tuple[list[Line], str, bool], data: st.DataObject
) -> None:
    lines, text = conf[0], joined(*conf)
    structure = parse_conf(text)
    *holder, number = data.draw(st.sampled_from([*plugins(structure)]))
    place = data.draw(st.sampled_from([number, "-"]))
    plugin = {"name": "sla", "arguments": {"sla-waiting-time": "2h"}}
    assert appear_in_order(
        other_lines(lines), checked_edit(text, Operation("add", pointer(*holder, place), plugin))
    )
    tier = {"plugins": data.draw(st.sampled_from([[], [plugin]]))}
    at = data.draw(st.integers(0, len(structure["tiers"])))
    assert appear_in_order(
        other_lines(lines), checked_edit(text, Operation("add", pointer("tiers", at), tier))
    )


@examples(always=25, many=60)
@given(configurations(), st.sampled_from(["", "allocate", "allocate, reclaim: # no", "'\""]))
def test_replacing_the_actions_changes_only_their_line(
    conf: tuple[list[Line], str, bool], actions: str
) -> None:
    lines, text = conf[0], joined(*conf)
    new = checked_edit(text, Operation("replace", "/actions", actions))
    assert appear_in_order(other_lines(lines, ("actions",)), new)
    assert len(new.split("\n")) == len(text.split("\n"))


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ("", Operation("add", "/actions", "allocate"), "actions: allocate\n"),
        ("# mine", Operation("add", "/tiers", [{"plugins": []}]), "# mine\ntiers:\n- plugins: []"),
        ("tiers: [] #\n", Operation("add", "/tiers/-", {"plugins": []}), "tiers: #\n- plugins: []\n"),
        ('{"actions": "a", "tiers": []}', Operation("remove", "/actions"), '{"tiers": []}'),
        ("actions: |\n  a\n# c\n", Operation("replace", "/actions", "b"), "actions: b\n# c\n"),
        ("actions: 'a' # c\r\n", Operation("replace", "/actions", "it's"), "actions: 'it''s' # c\r\n"),
    ],
)  # fmt: skip
def test_configurations_of_other_shapes_are_edited(before: str, operation: Operation, after: str) -> None:
    assert edited(before, [operation]) == after


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("a: &x {k: 1}\nb: *x\n", Operation("add", "/b/k", 2)),
        ("a: &x {k: 1}\nb: *x\n", Operation("add", "/a/k", 2)),
        ("a: &x {k: 1}\nb: *x\n", Operation("remove", "/a")),
        ("a: &x {k: 1}\nb:\n  <<: *x\n", Operation("replace", "/b/k", 2)),
        ("a: {k: 1}\na: {k: 2}\n", Operation("remove", "/a")),
        ("a: !!int 1\n", Operation("replace", "/a", 2)),
    ],
)
def test_an_edit_that_would_change_other_parts_is_refused(text: str, operation: Operation) -> None:
    with pytest.raises(NoEdit):
        edited(text, [operation])


@pytest.mark.parametrize("path", ["tiers", "", "/tiers/2", "/tiers/-", "/tiers/01x", "/no", "/actions/0"])
def test_a_path_that_does_not_exist_is_refused(path: str) -> None:
    with pytest.raises(NoPlace, match=r"."):
        edited("actions: a\ntiers: []\n", [Operation("remove", path)])


@pytest.mark.parametrize("step", trials([3, 1], always=1))
def test_published_configurations_accept_every_edit(shared: Path, step: int) -> None:
    paths = sorted((shared / "data" / "scheduler-conf").rglob("*.conf"))
    assert len(paths) > 100
    for path in paths[::step]:
        text = path.read_bytes().decode()
        try:
            structure = parse_conf(text)
        except Unreadable:
            continue
        for steps in plugins({"tiers": structure.get("tiers") or []}):
            checked_edit(text, Operation("remove", pointer(*steps)))
            checked_edit(text, Operation("move", pointer(*steps[:-1], 0), source=pointer(*steps)))
            checked_edit(text, Operation("add", pointer(*steps, "enablePreemptable"), False))
            checked_edit(text, Operation("add", pointer(*steps, "arguments"), {"weight": 1}))
