"""Plugin functions at extension points, and how their answers may be cached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from types import FunctionType, MethodType
from typing import Any, ClassVar

from scheduler_core.errors import RegistrationError
from scheduler_core.framework.bounds import PluginBound
from scheduler_core.framework.class_scores import OfClasses
from scheduler_core.model.job import TaskInfo
from scheduler_core.model.queue import QueueInfo
from scheduler_core.resource import Resource

ClassKey = Callable[[TaskInfo], Hashable]
ForNode = Callable[[TaskInfo], Callable[[int], Any] | None]

VARIADIC = 0x04


@dataclass(eq=False, repr=False)
class PluginFn:
    """A plugin's function at one extension point.

    Attributes
    ----------
    same_for_equal_jobs : bool
        Whether jobs of one queue whose pods are all equal and waiting get the same answers as long as no task
        moves, as do their tasks as preemptors. A queue that rejects a task keeps rejecting it as long as
        tasks are only placed.
    returns_records : bool
        Whether the returned tasks are the nodes' own records of them, see `statement.evict`.
    companions : dict
        The attributes with further functions of the plugin, and the arguments of each.

    """

    companions: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    plugin: str
    fn: Callable[..., Any]
    same_for_equal_jobs: bool = field(default=False, kw_only=True)
    returns_records: bool = field(default=False, kw_only=True)


@dataclass(eq=False, repr=False)
class NodeFn(PluginFn):
    """A predicate or a score of nodes.

    It is called again for every task and node unless `class_key` says which tasks share answers.

    Attributes
    ----------
    class_key : callable or None
        ``class_key(task)``: the `class` of the task: everything besides the pod's shape that the answer
        depends on. Tasks of one class share answers, each of which is cached until the node changes. None: no
        answer is cached.
    cacheable_per_node : callable
        ``cacheable_per_node(task)``: whether the answer for a node depends on nothing but the task's class
        and that node.
    static_for_class : callable
        ``static_for_class(task)``: whether that holds regardless of the results of pre-predicates.
    for_node : callable or None
        ``for_node(task)``: a function that returns the same answer for one node as a plain number, never NaN,
        for all tasks of the task's class; None if there is none.
    for_classes : callable or None
        ``for_classes(tasks)``: the same for several classes, given one task of each, see `ClassAnswers`. Only
        called for tasks for which `static_for_class` is true.
    explain : callable
        ``explain(task, nodes)``: the same answer for an explanation: nothing is cached, and no external
        system is called.

    """

    companions = {
        "class_key": ("task",),
        "cacheable_per_node": ("task",),
        "static_for_class": ("task",),
        "for_node": ("task",),
        "for_classes": ("tasks",),
        "explain": ("task", "nodes"),
    }

    class_key: ClassKey | None
    cacheable_per_node: Callable[[TaskInfo], bool]
    static_for_class: Callable[[TaskInfo], bool]
    for_node: ForNode | None
    for_classes: OfClasses | None
    explain: Callable[..., Any]


@dataclass(eq=False, repr=False)
class JobPipelinedFn(PluginFn):
    """A vote on whether a job keeps its pipelined nodes.

    Attributes
    ----------
    keeps_whole_jobs : bool
        Whether a job without minimums per role keeps its nodes if all of its pods are placed or pipelined and
        their number is at least its minimum.

    """

    keeps_whole_jobs: bool = field(default=False, kw_only=True)


@dataclass(eq=False, repr=False)
class QueueOrderFn(PluginFn):
    """A comparison of queues.

    Attributes
    ----------
    key : callable or None
        ``key(queue)``: an equivalent sort key, a tuple; it changes only when a task of the queue is added or
        removed. None if there is none.
    key_holds : callable or None
        ``key_holds()``: whether the key is equivalent for the queues of waiting jobs in this session; None:
        it always is.

    """

    companions = {"key": ("queue",)}

    key: Callable[[QueueInfo], tuple[Any, ...]] | None
    key_holds: Callable[[], bool] | None = None


@dataclass(eq=False, repr=False)
class AllocatableFn(PluginFn):
    """Whether a queue may allocate for a task.

    Attributes
    ----------
    after_release : callable or None
        ``after_release(queue, task, freed)``: False if the queue would reject the task even after releasing
        these amounts.

    """

    companions = {"after_release": ("queue", "task", "freed")}

    after_release: Callable[[QueueInfo, TaskInfo, Resource], bool] | None


@dataclass(eq=False, repr=False)
class EnqueueableFn(PluginFn):
    """A vote on whether a job may be enqueued.

    Attributes
    ----------
    reads : callable or None
        ``reads(queue)``: everything that the vote reads besides a job's queue and minResources, as a
        comparable value. A rejection holds for equal jobs as long as the value is equal and jobs are only
        enqueued. None: the vote reads more.

    """

    companions = {"reads": ("queue",)}

    reads: Callable[[str], Hashable] | None


@dataclass(eq=False, repr=False)
class EvictableFn(PluginFn):
    """Selects the candidates that may be evicted.

    Attributes
    ----------
    bound : bound or None
        A bound on the accepted tasks, for all tasks of a queue at once. None: the function is called with
        every candidate.
    same_for_equal_tasks : bool
        Whether tasks of one job with equal class and priority get the same answers as long as nothing moves.

    """

    bound: PluginBound | None
    same_for_equal_tasks: bool


def shape_only(_task: TaskInfo) -> None:
    """Return the class key of answers that depend on nothing but the shape of a task's pod."""


def always(_task: TaskInfo) -> bool:
    """Return True for every task."""
    return True


def never(_task: TaskInfo) -> bool:
    """Return False for every task."""
    return False


def node_fn(
    where: str,
    plugin: str,
    fn: Callable[..., Any],
    *,
    class_key: ClassKey | None,
    cacheable_per_node: Callable[[TaskInfo], bool] | None,
    static_for_class: Callable[[TaskInfo], bool] | None,
    for_node: ForNode | None,
    for_classes: OfClasses | None,
    explain: Callable[..., Any] | None = None,
) -> NodeFn:
    """Return a checked function of tasks and nodes.

    Raises
    ------
    RegistrationError
        If the options for caching its answers contradict each other.

    """
    if class_key is None:
        if cacheable_per_node or static_for_class or for_node or for_classes:
            raise RegistrationError(
                f"{where}: answers can only be kept per class of tasks; add class_key=..., a function of the "
                "task that returns everything beside its pod's shape that the answer depends on "
                "(shape_only: nothing)"
            )
        return NodeFn(plugin, fn, None, never, never, None, None, explain or fn)
    if for_classes is not None and for_node is None:
        raise RegistrationError(f"{where}: a form for several classes needs the form for one node, too")
    if for_classes is not None and cacheable_per_node is not None and static_for_class is None:
        raise RegistrationError(
            f"{where}: a form for several classes needs static_for_class=..., since cacheable_per_node may "
            "depend on what pre-predicates find out"
        )
    per_node = cacheable_per_node or always
    return NodeFn(
        plugin, fn, class_key, per_node, static_for_class or per_node, for_node, for_classes, explain or fn
    )


def check_arguments(where: str, fn: object, arguments: tuple[str, ...]) -> None:
    """Check that a function accepts the given arguments.

    Raises
    ------
    RegistrationError
        If it does not, or is not callable.

    """
    if callable(fn) and _takes(fn, len(arguments)):
        return
    called = f"called with ({', '.join(arguments)})"
    if not callable(fn):
        raise RegistrationError(f"{where}: {fn!r} is not a function that can be {called}")
    raise RegistrationError(f"{where}: the function is {called}, but takes other arguments")


def _takes(fn: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with `count` positional arguments."""
    plain, bound = (fn.__func__, 1) if isinstance(fn, MethodType) else (fn, 0)
    if isinstance(plain, FunctionType):  # as `signature` below, a hundred times faster
        code = plain.__code__
        most = code.co_argcount - bound
        fewest = most - len(plain.__defaults__ or ())
        needs_names = code.co_kwonlyargcount > len(plain.__kwdefaults__ or ())
        return fewest <= count and (count <= most or bool(code.co_flags & VARIADIC)) and not needs_names
    try:
        signature(fn).bind(*[None] * count)
    except ValueError:
        return True  # functions written in C have no signature
    except TypeError:
        return False
    return True
