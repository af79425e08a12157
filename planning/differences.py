"""Differences between two states of a scenario, by object and field."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from planning.contents import Content, renamed_queues
from planning.queues import Queue, queue_spec
from planning.states import CONF, QUEUES, RELEASE, Edit, State, kept_queue

_CONTEXT_LINES = 2


def differences(base: State, present: State, content: Content) -> list[Edit]:
    """Return the edits that lead from `base` to `present`, both on the snapshot with this content.

    A renamed queue of the snapshot remains the same queue; changes that only follow its new name are not
    listed.
    """
    return [
        *_queue_differences(base, present),
        *_conf_difference(base, present),
        *_object_differences(base, present, content),
    ]


def line_changes(before: str, after: str) -> list[str]:
    r"""Return the diff of two texts, line by line, with signs.

    >>> line_changes("a: 1\nb: 2\n", "a: 1\nb: 3\n")
    ['@@ -1,2 +1,2 @@', ' a: 1', '-b: 2', '+b: 3']
    """
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=_CONTEXT_LINES)
    return [line for line in lines if not line.startswith(("---", "+++"))]


def field_changes(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the fields in which two objects differ, with both values; None means absent.

    >>> list(field_changes({"spec": {"minMember": 1}}, {"spec": {"minMember": 2, "queue": "a"}}))
    [('spec.minMember', 1, 2), ('spec.queue', None, 'a')]
    >>> list(field_changes([{"replicas": 1}], [{"replicas": 3}], "tasks"))
    [('tasks[0].replicas', 1, 3)]
    """
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from field_changes(before.get(name), after.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from field_changes(one, other, f"{path}[{index}]")
    elif before != after:
        yield path, before, after


def _queue_differences(base: State, present: State) -> Iterator[Edit]:
    then, now = _by_identity(base), _by_identity(present)
    for who, row in then.items():
        # A queue that was removed and added again is the same queue to the cluster, which knows names only.
        if (
            who not in now
            and row.name in present.queues
            and (again := (False, row.name)) in now.keys() - then.keys()
        ):
            now[who] = now.pop(again)
    renamed = {row.name: now[who].name for who, row in then.items() if who in now}
    for who, row in then.items():
        if who not in now:
            yield Edit(QUEUES, row.name, before=kept_queue(row))
            continue
        before, after = queue_spec(row), queue_spec(now[who])
        follows = {**before, "parent": renamed.get(before["parent"], before["parent"])}
        for name in after:
            if after[name] != follows[name]:
                yield Edit(QUEUES, after["name"], name, before[name], after[name])
    for who, row in now.items():
        if who not in then:
            yield Edit(QUEUES, row.name, after=kept_queue(row))


def _by_identity(state: State) -> dict[tuple[bool, str], Queue]:
    """Return the queues by an identity that survives renaming: the snapshot's name, else their own."""
    return {(bool(row.imported_name), row.imported_name or row.name): row for row in state.ordered_queues()}


def _conf_difference(base: State, present: State) -> Iterator[Edit]:
    if base.conf_text != present.conf_text:
        yield Edit(CONF, before=base.conf_text, after=present.conf_text)
    if base.release != present.release:
        yield Edit(RELEASE, before=base.release, after=present.release)


def _object_differences(base: State, present: State, content: Content) -> Iterator[Edit]:
    renamed = renamed_queues(present.queues.values())
    for kind, key in sorted({*base.objects, *present.objects}):
        seen = content.seen(kind, key, renamed)
        before = base.objects.get((kind, key), seen)
        after = present.objects.get((kind, key), seen)
        if before != after:
            yield Edit(kind, key, before=before, after=after)
