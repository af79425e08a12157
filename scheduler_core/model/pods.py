"""The pods of a cluster, and the pods that the scheduler knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from operator import attrgetter

from scheduler_core.model.axis import ResourceAxis
from scheduler_core.model.journal import Journal
from scheduler_core.model.pod import PodShape
from scheduler_core.model.pod_columns import Object
from scheduler_core.model.pod_info import PodInfo, PodTable
from scheduler_core.model.pod_kind import PodReader

_uid = attrgetter("uid")
_template = attrgetter("template")


class KnownPods:
    """The pods that the scheduler knows at one moment.

    Attributes
    ----------
    pods : list of PodInfo
        Ascending by uid.
    kinds : list of PodKind
        The distinct kinds of the pods, in order of first occurrence.
    numbers : list of int
        The position in `kinds` of each pod's kind.
    shapes : list of PodShape
        The distinct shapes of the kinds, in order of first occurrence.

    """

    def __init__(self, pods: Iterable[PodInfo], reader: PodReader) -> None:
        pods = list(pods)
        templates = dict.fromkeys(map(_template, pods))
        foreign = {template for template in templates if not reader.kind_of(template).is_ours}
        if foreign:
            pods = [info for info in pods if info.node_name or info.template not in foreign]
        self.pods = sorted(pods, key=_uid)
        numbers = {
            template: number for number, template in enumerate(dict.fromkeys(map(_template, self.pods)))
        }
        self.kinds = [reader.kind_of(template) for template in numbers]
        self.numbers = [numbers[info.template] for info in self.pods]
        self.shapes = list({kind.shape.number: kind.shape for kind in self.kinds}.values())

    def shapes_on(self, axis: ResourceAxis) -> list[PodShape]:
        """Return copies of the shapes with rows on an axis, numbered by position."""
        return [shape.on_axis(axis, number) for number, shape in enumerate(self.shapes)]


class Pods(MutableMapping[str, Object]):
    """Pods by namespace/name as the scheduler finds them; each is admitted when it is read.

    Attributes
    ----------
    infos : dict
        The `PodInfo` of each pod, by the same keys.
    reader : PodReader
        Derives their kinds.
    journal : Journal
        Records the keys of changed pods.

    """

    def __init__(self, infos: Iterable[PodInfo], table: PodTable, reader: PodReader) -> None:
        self.infos = {info.key: info for info in infos}
        self._table = table
        self.reader = reader
        self.journal = Journal()
        self._known_pods: KnownPods | None = None

    def __getitem__(self, key: str) -> Object:
        return self.reader.admit(self.infos[key].given)

    def __setitem__(self, key: str, pod: Object) -> None:
        self.infos[key] = self._table.read(pod)
        self.journal.pods[key] = None
        self._known_pods = None

    def follow(self, key: str, pod: Object) -> None:
        """Write a pod whose node, status or deletion timestamp `transitions` changed."""
        self.infos[key] = self._table.read_after(self.infos[key], pod)
        self.journal.pods[key] = None
        self._known_pods = None

    def __delitem__(self, key: str) -> None:
        del self.infos[key]
        self.journal.pods[key] = None
        self._known_pods = None

    def __contains__(self, key: object) -> bool:
        return key in self.infos

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)

    def copy(self) -> Pods:
        """Return an independent copy."""
        pods = Pods(self.infos.values(), self._table, self.reader)
        pods._known_pods = self._known_pods
        return pods

    def emptied(self) -> Pods:
        """Return a collection without pods that reads them in the same way."""
        return Pods((), self._table, self.reader)

    def known_pods(self) -> KnownPods:
        """Return the pods that the scheduler knows."""
        if self._known_pods is None:
            self._known_pods = KnownPods(self.infos.values(), self.reader)
        return self._known_pods
