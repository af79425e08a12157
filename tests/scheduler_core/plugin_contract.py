"""The contract of plugins: answers depend neither on caching nor on single or batch calls.

For the author of a plugin::

    @SEARCH
    @given(data=st.data())
    def test_my_plugin_keeps_the_contract(data: st.DataObject) -> None:
        assert_keeps_contract(data, "my-plugin", [{}, {"my-plugin.weight": 3}])

The first difference fails with plugin, point, task and node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from scheduler_core.errors import PrePredicateError, SchedulerPanic, ScoreError
from scheduler_core.framework.bounds import PerJobBound, PluginBound, StaticBound
from scheduler_core.framework.class_scores import ClassAnswers
from scheduler_core.framework.error_cache import ErrorCache
from scheduler_core.framework.extender_calls import Post
from scheduler_core.framework.extension_points import Point
from scheduler_core.framework.lines import name_of
from scheduler_core.framework.plugin_fn import AllocatableFn, EvictableFn, NodeFn, PluginFn, QueueOrderFn
from scheduler_core.framework.session import Session
from scheduler_core.framework.statement import Statement
from scheduler_core.model.fit import FITS
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.status import TaskStatus
from scheduler_core.plugins.registry import Opener
from scheduler_core.resource import Resource
from tests.builders import Object, conf, session_of
from tests.scheduler_core.clusters import clusters
from tests.scheduler_core.states import operate

NODE_POINTS = (Point.PREDICATE, Point.NODE_ORDER, Point.BATCH_NODE_ORDER)
COMPANIONS = ("gang", "priority", "predicates")
MOST_STEPS = 6


def assert_keeps_contract(
    data: st.DataObject,
    plugin: str,
    arguments: Sequence[Mapping[str, Any]] = ({},),
    opener: Opener | None = None,
    extender: Post | None = None,
) -> None:
    """Check a plugin in a generated cluster, after each of some generated placements and evictions.

    `opener` opens a plugin that is not part of the core; `extender` answers the calls of an extender.
    """
    companions = [name for name in COMPANIONS if name != plugin]
    entry = plugin, {"arguments": dict(data.draw(st.sampled_from(list(arguments))))}
    document = data.draw(clusters(st.just(conf("allocate", [*companions, entry])), cycles=1))
    vary(data, document)
    further = {plugin: opener} if opener is not None else None
    session = session_of(document, further=further, extender=extender)
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    assume(tasks and len(session.nodes))
    contract = Contract(session, plugin)
    statement = Statement(session)
    contract.check()
    for _ in range(data.draw(st.integers(1, MOST_STEPS))):
        if statement.operations and data.draw(st.sampled_from([False, False, False, True])):
            statement.discard()
            statement = Statement(session)
        else:
            task, node = (
                data.draw(st.sampled_from(tasks)),
                data.draw(st.sampled_from(range(len(session.nodes)))),
            )
            operate(statement, task, node)
        contract.check()


# object fields that plugins read and `clusters` leaves out

PREFERENCE = {"weight": 3, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "g1"}},
}
APART = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "g0"}}}
POD_PARTS: Sequence[Object] = (
    {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [PREFERENCE]}}},
    {"topologySpreadConstraints": [SPREAD]},
    {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [APART]}}},
)
POD_NOTES: Sequence[Object] = (
    {"volcano.sh/revocable-zone": "*"},
    {"volcano.sh/template-uid": "t0"},
    {
        "volcano.sh/resource-strategy-scoring-type": "MostAllocated",
        "volcano.sh/resource-strategy-weight": '{"cpu": 2, "memory": 1}',
    },
)
NODE_LABELS: Sequence[Object] = (
    {"volcano.sh/nodegroup-name": "g1"},
    {"volcano.sh/nodegroup-name": "g2"},
    {"volcano.sh/revocable-zone": "rz1"},
    {"volcano.sh/revocable-zone": "rz2"},
)
AFFINITIES: Sequence[Object] = (
    {"nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g1"]}},
    {"nodeGroupAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["g2", "g1"]}},
    {"nodeGroupAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["g1"]}},
)
SOFT_TAINT = {"key": "slow", "value": "yes", "effect": "PreferNoSchedule"}
IMAGES = [{"names": ["busybox:latest"], "sizeBytes": 900 * 2**20}]


def vary(data: st.DataObject, document: Object) -> None:
    """Add fields that only few plugins read to some nodes, queues and pods of a scenario."""
    often = st.sampled_from([False, True])
    if data.draw(often):
        for node in document["nodes"]:
            node["metadata"]["labels"].update(data.draw(st.sampled_from([{}, *NODE_LABELS])))
            if data.draw(often):
                node["status"]["images"] = IMAGES
        if data.draw(often):
            taints = document["nodes"][0]["spec"].setdefault("taints", [])
            document["nodes"][0]["spec"]["taints"] = [*taints, SOFT_TAINT]
        for queue in document["queues"]:
            queue["spec"]["affinity"] = data.draw(st.sampled_from([None, *AFFINITIES]))
    for pod in document["pods"] if data.draw(often) else ():
        pod["spec"] = {**pod["spec"], **data.draw(st.sampled_from([{}, {}, *POD_PARTS]))}
        pod["metadata"]["annotations"].update(data.draw(st.sampled_from([{}, {}, *POD_NOTES])))


# bounds


def _beyond(
    bound: PluginBound,
    point: Point,
    task: TaskInfo,
    candidates: Sequence[TaskInfo],
    accepted: list[TaskInfo] | None,
) -> list[str]:
    """Return the candidates whose answers violate a bound, whether exact or an upper limit by shape."""
    if accepted is None:
        return ["an abstention"]
    if isinstance(bound, StaticBound):
        return _names(
            {*accepted} ^ {other for other in candidates if bound.fact(other.kind, other.namespace)}
        )
    if isinstance(bound, PerJobBound):
        of_job = defaultdict(list)
        for other in candidates:
            of_job[other.job.key].append(other)
        priority = task.job.priority if point is Point.PREEMPTABLE else None
        first = {
            other
            for tasks in of_job.values()
            for position, other in enumerate(tasks)
            if position < bound.most(tasks[0].job, priority)
        }
        return _names({*accepted} ^ first)
    return _names({other for other in accepted if bound.accepts(other.job.queue, (other.shape,)) != [True]})


def _names(tasks: set[TaskInfo]) -> list[str]:
    return sorted(task.key for task in tasks)


# the contract


class Kept(NamedTuple):
    """An answer about one node, and the number of node changes before it."""

    changes: int
    answer: float
    task: str


class Forms(NamedTuple):
    """A plugin's batch answers to several classes, requested when the session opened."""

    tasks: list[TaskInfo]
    answers: ClassAnswers
    seen: dict[Any, list[float]]


class Contract:
    """Calls a plugin's functions after each change of a session, and compares with earlier answers."""

    def __init__(self, session: Session, plugin: str) -> None:
        self.session = session
        self.plugin = plugin
        self.all = np.arange(len(session.nodes), dtype=np.intp)
        self.kept: dict[tuple[Point, int, int], Kept] = {}
        self.cacheable: dict[tuple[Point, int], bool] = {}
        self.constant: dict[tuple[Point, Any], Any] = {}
        self.forms = {
            point: self._forms(added) for point, added in self._node_fns() if added.for_classes is not None
        }

    def _node_fns(self) -> list[tuple[Point, NodeFn]]:
        of_kind = self.session.functions.of_kind
        return [
            (p, added) for p in NODE_POINTS for added in of_kind(p, NodeFn) if added.plugin == self.plugin
        ]

    def _forms(self, added: NodeFn) -> Forms:
        assert added.for_classes is not None, "only asked of plugins that have the form"
        by_class = {
            self.session.functions.class_of(task): task
            for task in self._pending()
            if added.static_for_class(task)
        }
        tasks = list(by_class.values())
        return Forms(tasks, added.for_classes(tasks) if tasks else ClassAnswers(len), {})

    def _pending(self) -> list[TaskInfo]:
        jobs = self.session.jobs.values()
        return [task for job in jobs for task in job.by_status[TaskStatus.PENDING].values()]

    def check(self) -> None:
        """Check every form of every answer for the session's current state."""
        for task in self._pending():
            try:
                self.session.plugins.pre_predicate(task)
            except PrePredicateError:
                continue
            for point, added in self._node_fns():
                self._check_nodes(point, added, task)
            self._check_placement(task)
        self._check_forms()
        self._check_orders()
        self._check_queues()
        self._check_evictions()
        self._check_equal_jobs()

    # predicates and scores

    def _check_nodes(self, point: Point, added: NodeFn, task: TaskInfo) -> None:
        try:
            whole = self._ask(point, added, task, self.all)
        except ScoreError:
            return
        number = self.session.functions.class_of(task)
        cacheable = added.cacheable_per_node(task)
        known = self.cacheable.setdefault((point, number), cacheable)
        assert known == cacheable, self._say(
            point, task, "is cacheable for one task of a class, not for another"
        )
        if not cacheable:
            return
        for some in (self.all[::2], self.all[::-1]):
            part = self._ask(point, added, task, some)
            assert same(part, whole[some]), self._say(point, task, f"about nodes {some}: {part}, of {whole}")
        for_node = None if added.for_node is None else added.for_node(task)
        for node, answer in enumerate(whole.tolist()):
            alone = self._ask(point, added, task, self.all[node : node + 1])
            assert same(alone, whole[node : node + 1]), self._say(
                point, task, f"{alone} alone, {answer}", node
            )
            if for_node is not None:
                one = for_node(node)
                assert same(one, answer), self._say(
                    point, task, f"{one} by the form for one node, {answer}", node
                )
            kept = self.kept.get((point, number, node))
            if kept is not None and kept.changes >= self._last_change(node):
                text = f"{answer}, but {kept.answer} was kept of {kept.task}, which has the same class"
                assert same(kept.answer, answer), self._say(point, task, text, node)
            self.kept[point, number, node] = Kept(len(self.session.nodes.changes), answer, task.key)

    def _check_placement(self, task: TaskInfo) -> None:
        """Check that the cached result of all predicates equals a new call."""
        placement = self.session.placement
        passing, errors = placement.predicates.examine(
            task, resources=False, lenient=False, cache=ErrorCache(enabled=False)
        )
        fresh = [node for node in self.all.tolist() if placement.predicates.predicate_on(task, node) == FITS]
        assert passing.tolist() == fresh, self._say(
            Point.PREDICATE, task, f"nodes {passing.tolist()} are kept, {fresh} afresh: {errors.text()}"
        )

    def _ask(self, point: Point, added: NodeFn, task: TaskInfo, nodes: NDArray[np.intp]) -> NDArray[Any]:
        answers = added.fn(task, nodes)
        assert isinstance(answers, np.ndarray), self._say(point, task, f"{answers!r} is no array")
        assert answers.shape == nodes.shape, self._say(
            point, task, f"{answers.shape} for {nodes.shape} nodes"
        )
        if point is Point.PREDICATE:
            count = len(self.session.statuses.lists)
            within = answers.dtype.kind == "i" and bool(((answers >= 0) & (answers < count)).all())
            assert within, self._say(point, task, f"{answers} are no numbers of the status table")
        return answers

    def _last_change(self, node: int) -> int:
        """Return the number of changes at a node's last change."""
        entries = self.session.nodes.changes.entries
        return next((at for at in range(len(entries), 0, -1) if entries[at - 1] == node), 0)

    def _check_forms(self) -> None:
        by_point = dict(self._node_fns())
        for point, (tasks, answers, seen) in self.forms.items():
            if not tasks:
                continue
            actual = answers.on(self.all)
            for column, task in enumerate(tasks):
                self.session.plugins.pre_predicate(task)
                fresh = self._ask(point, by_point[point], task, self.all)
                want = fresh == 0 if point is Point.PREDICATE else fresh
                assert same(actual[:, column], want), self._say(
                    point, task, f"{actual[:, column]} together, {want}"
                )
            for node in self.all.tolist():
                state = self._state(node, answers)
                row = seen.setdefault(state, actual[node].tolist())
                assert same(row, actual[node]), self._say(
                    point, tasks[0], "differs in one state of a node", node
                )

    def _state(self, node: int, answers: ClassAnswers) -> Any:
        nodes = self.session.nodes
        fixed = None if answers.fixed is None else answers.fixed[node]
        changing = None if answers.changing is None else answers.changing(node)
        return fixed, changing, tuple(nodes.idle_of[node]), tuple(nodes.future_of[node])

    # orders, queues, evictions

    def _check_orders(self) -> None:
        session, functions = self.session, self.session.functions
        for job in session.jobs.values():
            fresh = [fn(job) for fn in functions[Point.JOB_ORDER]]
            assert list(session.orders.job_key(job)[:-2]) == fresh, (
                f"job_order of {job.key}: {fresh} is not what is kept"
            )
            for task in job.tasks.values():
                self._constant(Point.TASK_ORDER, task.uid, [fn(task) for fn in functions[Point.TASK_ORDER]])
        queues = list(session.queues.values())
        for left in queues:
            for right in queues:
                keys = [fn(left, right) for fn in functions[Point.VICTIM_QUEUE_ORDER]]
                self._constant(Point.VICTIM_QUEUE_ORDER, (left.name, right.name), keys)

    def _constant(self, point: Point, subject: Any, key: Any) -> None:
        known = self.constant.setdefault((point, subject), key)
        assert known == key, f"{self.plugin} at {point.label}: {key} of {subject}, {known} at first"

    def _check_queues(self) -> None:
        session = self.session
        used = [session.queues[name] for name in sorted({job.queue for job in session.jobs.values()})]
        for order in session.functions.of_kind(Point.QUEUE_ORDER, QueueOrderFn):
            for left in used if order.key is not None else ():
                for right in used:
                    mine, theirs = order.key(left), order.key(right)
                    by_key = (mine > theirs) - (mine < theirs)
                    assert np.sign(order.fn(left, right)) == by_key, (
                        f"{order.plugin}: {left.name}, {right.name}"
                    )
        for limit in session.functions.of_kind(Point.ALLOCATABLE, AllocatableFn):
            for task in self._pending() if limit.after_release is not None else ():
                queue = session.queues[task.job.queue]
                if limit.fn(queue, task, None):
                    assert limit.after_release(queue, task, Resource()), f"{limit.plugin}: {task.key}"

    def _check_evictions(self) -> None:
        session = self.session
        running = [task for job in session.jobs.values() for task in job.tasks_in([TaskStatus.RUNNING])]
        for point in (Point.PREEMPTABLE, Point.RECLAIMABLE):
            for added in session.functions.of_kind(point, EvictableFn):
                actual: dict[Any, Any] = {}
                for task in self._pending() if added.same_for_equal_tasks and running else ():
                    accepted = added.fn(task, running, None)
                    names = None if accepted is None else [victim.key for victim in accepted]
                    equal = task.job.key, task.role, task.priority, session.functions.class_of(task)
                    assert actual.setdefault(equal, names) == names, self._say(
                        point, task, f"{names}, else {actual}"
                    )

        for task in self._pending() if running else ():
            self._check_bounds(task)

    def _check_bounds(self, task: TaskInfo) -> None:
        """Check the batch answers for many tasks against the answers for each node."""
        session, queue = self.session, task.job.queue
        for point in (Point.PREEMPTABLE, Point.RECLAIMABLE):
            for added in session.functions.of_kind(point, EvictableFn):
                for node in self.all.tolist() if added.bound is not None else ():
                    candidates = [
                        other
                        for other in session.nodes.tasks.in_order(node)
                        if other.job not in (None, task.job)
                        and other.node_status is TaskStatus.RUNNING
                        and (other.job.queue == queue) is (point is Point.PREEMPTABLE)
                    ]
                    with suppress(SchedulerPanic):
                        accepted = added.fn(task, candidates, None)
                        wrong = _beyond(added.bound, point, task, candidates, accepted)
                        assert not wrong, self._say(point, task, f"{wrong} against its bound", node)

    def _check_equal_jobs(self) -> None:
        session, actual = self.session, dict[Any, Any]()
        for point in (Point.JOB_VALID, Point.JOB_STARVING, Point.ALLOCATABLE, Point.PREEMPTIVE):
            for added in session.functions.of_kind(point, PluginFn):
                for task in self._pending() if added.same_for_equal_jobs else ():
                    queue, name = session.queues[task.job.queue], name_of(task.job)
                    if name is None:
                        continue
                    if point in (Point.JOB_VALID, Point.JOB_STARVING):
                        answer = added.fn(task.job)
                    else:
                        answer = added.fn(queue, task if point is Point.ALLOCATABLE else [task], None)
                    equal = point, added.plugin, queue.name, name
                    assert actual.setdefault(equal, answer) == answer, self._say(point, task, f"{answer}")

    def _say(self, point: Point, task: TaskInfo, text: str, node: int | None = None) -> str:
        where = "" if node is None else f" on {self.session.nodes.names[node]}"
        return f"plugin {self.plugin} at {point.label}, {task.key}{where}: {text}"


def same(one: Any, other: Any) -> bool:
    """Return whether answers are equal bit by bit; NaN equals itself."""
    return bool(np.array_equal(np.asarray(one, dtype=float), np.asarray(other, dtype=float), equal_nan=True))
