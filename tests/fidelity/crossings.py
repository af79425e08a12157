"""The number of modules that an eviction by reclaim and an allocation enter.

`python -m tests.fidelity.crossings` prints it.

A queue reclaims one pod on one of two nodes, with priority, gang, predicates, proportion and nodeorder; and
allocate places one pod there. Calls between modules of the core are counted by a profile hook.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from scheduler_core.actions import allocate, reclaim
from scheduler_core.framework.session import Session
from tests.builders import conf, node, pod, podgroup, queue, scenario, session_of

TIERS = (["priority", "gang"], ["predicates", "proportion", "nodeorder"])
DECIDING = ("actions", "framework", "victims")
ALL = (*DECIDING, "model", "plugins")


def reclaiming() -> Session:
    """Return a session in which queue b reclaims one of the two pods of queue a."""
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=1), node("n1", cpu=1)],
            queues=[queue("a"), queue("b")],
            podgroups=[podgroup("runs", queue="a"), podgroup("waits", queue="b")],
            pods=[
                *[pod(f"r-{number}", group="runs", node=f"n{number}", cpu=1) for number in range(2)],
                pod("w-0", group="waits", cpu=1),
            ],
            conf=conf("reclaim", *TIERS),
        )
    )
    session.action = "reclaim"
    return session


def allocating() -> Session:
    """Return a session in which one pod waits for one of two nodes."""
    session = session_of(
        scenario(
            nodes=[node("n0", cpu=1), node("n1", cpu=1)],
            queues=[queue("a")],
            podgroups=[podgroup("waits", queue="a")],
            pods=[pod("w-0", group="waits", cpu=1)],
            conf=conf("allocate", *TIERS),
        )
    )
    session.action = "allocate"
    return session


def calls_between(run: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Return how often one module of the core calls a function of another one."""
    calls: Counter[tuple[str, str]] = Counter()

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_back is not None:
            caller, called = (one.f_globals.get("__name__", "") for one in (frame.f_back, frame))
            if caller != called and called.startswith("scheduler_core."):
                calls[caller, called] += 1

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def counted(calls: Counter[tuple[str, str]], packages: Iterable[str]) -> tuple[int, int]:
    """Return the number of modules of some packages that are entered, and of calls between them."""
    within = tuple([f"scheduler_core.{package}." for package in packages])
    of_them = {link: count for link, count in calls.items() if link[1].startswith(within)}
    between = sum(count for (caller, _), count in of_them.items() if caller.startswith(within))
    return len({called for _, called in of_them}), between


def paths() -> dict[str, Counter[tuple[str, str]]]:
    """Return the calls of both."""
    sessions = {"one eviction by reclaim": reclaiming(), "one allocation": allocating()}
    actions = {"one eviction by reclaim": reclaim.execute, "one allocation": allocate.execute}
    return {name: calls_between(lambda: actions[name](session)) for name, session in sessions.items()}  # noqa: B023


if __name__ == "__main__":
    for name, calls in paths().items():
        for packages in (DECIDING, ALL):
            modules, between = counted(calls, packages)
            sys.stdout.write(f"{name}: {', '.join(packages)}: {modules} modules, {between} calls\n")
