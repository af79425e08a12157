"""What is in a snapshot, object by object, and what in a scenario on it?"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from planning.documents import items
from planning.frozen import following, renamed_queues
from planning.states import KINDS, Json, State, object_key


class Content:
    """The objects of a snapshot. They are shared: whoever changes one makes a copy first.

    `read` is called once something is looked up that is not among `queues`, which hold the Queue objects
    where those are known without reading.
    """

    def __init__(self, read: Callable[[], Json], queues: Sequence[Mapping[str, Any]] | None = None) -> None:
        self._read = read
        self._queues = queues

    @cached_property
    def document(self) -> Json:
        """Return all objects, by list."""
        return self._read()

    @property
    def queues(self) -> Sequence[Mapping[str, Any]]:
        """Return the Queue objects."""
        return items(self.document.get("queues")) if self._queues is None else self._queues

    @cached_property
    def objects(self) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Return the other objects by list and key."""
        return {
            kind: {object_key(kind, manifest): manifest for manifest in items(self.document.get(kind))}
            for kind in KINDS
        }

    def seen(self, kind: str, key: str, renamed: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Return an object of the snapshot under the new names of queues, None when it has no such."""
        manifest = self.objects[kind].get(key)
        return None if manifest is None else following(kind, manifest, renamed)

    def settle(self, state: State) -> None:
        """Forget what a state says of objects that are as they are in the snapshot."""
        renamed = renamed_queues(state.queues.values())
        for kind, key in list(state.objects):
            if state.objects[kind, key] == self.seen(kind, key, renamed):
                del state.objects[kind, key]


class Objects:
    """The objects of one state of a scenario: the snapshot's, with the state's changes laid over them."""

    def __init__(self, content: Content, state: State) -> None:
        self.content = content
        self.state = state
        self.renamed = renamed_queues(state.queues.values())

    def get(self, kind: str, key: str) -> Mapping[str, Any] | None:
        """Return an object, None when there is no such."""
        if (kind, key) in self.state.objects:
            return self.state.objects[kind, key]
        return self.content.seen(kind, key, self.renamed)

    def of_kind(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """Return the objects of a list by key, in the order of the frozen input."""
        changed = {key: manifest for (of, key), manifest in self.state.objects.items() if of == kind}
        imported = {
            key: changed.pop(key) if key in changed else following(kind, manifest, self.renamed)
            for key, manifest in self.content.objects[kind].items()
        }
        both = imported | dict(sorted(changed.items()))
        return {key: manifest for key, manifest in both.items() if manifest is not None}

    def origin(self, kind: str, key: str) -> str:
        """Tell whether an object is `imported` as it is, `changed` or `added`."""
        if (kind, key) not in self.state.objects:
            return "imported"
        return "changed" if key in self.content.objects[kind] else "added"
