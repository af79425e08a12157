"""The command that searches for changes with which a figure reaches an amount."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from planning.reach.answers import answer_to
from planning.reach.questions import DESERVED, FIGURES, NAMES, SHARE
from queuecast.backend import Backend, Json
from queuecast.client import Client
from queuecast.commands import edited
from queuecast.parsing import Groups, add_command
from queuecast.problems import Refused, problem, refusal
from queuecast.shown import Amounts, Output, Table, amounts, percent
from queuecast.terminal import progress_line

NO = 1


def add_reach_command(groups: Groups) -> None:
    """Add the command."""
    reach = add_command(groups, "reach", reached, edits=True)
    reach.add_argument("scenario")
    reach.add_argument("figure", choices=FIGURES)
    reach.add_argument("--queue", default="", help="for deserved and share")
    reach.add_argument("--resource", default="", help="for deserved and share (cpu)")
    reach.add_argument("--job", default="", help="for placed: namespace/name of a PodGroup or vcjob")
    bounds = reach.add_mutually_exclusive_group(required=True)
    bounds.add_argument("--at-least", default="", help="20, 64Gi; 80%%; a number of pods")
    bounds.add_argument("--at-most", default="", help="for deserved and share")
    reach.add_argument(
        "--use", default="", metavar="CHANGE", help="apply this change, such as weight:research"
    )


def reached(backend: Backend, args: argparse.Namespace) -> Output:
    """Show the smallest change of each kind with which a figure reaches an amount, or apply one of them."""
    question = {name: getattr(args, name) for name in NAMES if getattr(args, name)}
    if args.figure in (DESERVED, SHARE):
        question.setdefault("resource", "cpu")
    found = _answer(backend, args.scenario, question)
    if not args.use:
        none = not found["met"] and all(one["status"] != "found" for one in found["changes"])
        return Output(found, list(_tables(found)), code=NO if none else 0)
    change = next((one for one in found["changes"] if one["name"] == args.use), None)
    if change is None or change["status"] != "found":
        names = [one["name"] for one in found["changes"] if one["status"] == "found"]
        raise Refused(f"--use {args.use}: no such change was found. Found: {', '.join(names) or 'none'}.")
    return edited(backend, args, lambda: _made(backend, args.scenario, change), _told_made)


def _answer(backend: Backend, scenario: str, question: dict[str, str]) -> Json:
    """Return the complete answer: a server is asked repeatedly, as each response covers limited time."""
    if isinstance(backend, Client):
        found = backend.scenario_reach(scenario, question)
        with progress_line(f"reach {scenario}") as progress:
            while found["next"]:
                if progress:
                    progress(*_how_far(found["changes"]))
                found = backend.scenario_reach(scenario, {**question, "after": found["next"]})
        return found
    found, problems = answer_to(question, backend.scenario_document(scenario))
    if problems:
        raise refusal([problem(**asdict(one)) for one in problems])
    return found


def _how_far(changes: Sequence[Json]) -> tuple[float, str]:
    decided = sum(one["status"] != "undecided" for one in changes)
    tried, points = (sum(one[name] for one in changes) for name in ("tried", "points"))
    return tried / points, f"{decided} of {len(changes)} kinds of change"


def _made(backend: Backend, scenario: str, change: Json) -> Json:
    if change["count"]:
        done = backend.nodes_add(scenario, count=change["count"], prefix=change["like"], like=change["like"])
    else:
        done = backend.queue_set(scenario, change["queue"], change["patch"])
    return {**done, "used": change["name"], "after": change["after"]}


def _told_made(done: Json) -> Output:
    return Output(done, [Table(("CHANGE", "AFTER"), [(done["used"], done["after"])])])


def _tables(found: Json) -> Iterator[Table | str]:
    what = f"job {found['job']}" if found["job"] else f"queue {found['queue']}"
    yield f"{found['figure']} of {what} is {_value(found, found['now'])}."
    if found["met"]:
        yield "Nothing needs to change."
        return
    if found["limit"]:
        yield f"No step reaches the amount. {found['limit']}"
    rows = [
        (
            one["name"], one["before"] or None, one["after"], one["status"],
            _value(found, one["value"]), one["smaller"], f"{one['tried']} of {one['points']}",
            one["largest"], one["refused"] or None,
        )
        for one in found["changes"]
    ]  # fmt: skip
    columns = ("CHANGE", "BEFORE", "AFTER", "STATUS", "FIGURE", "STEP BELOW", "TRIED", "LARGEST", "REFUSED")
    yield Table(columns, rows, empty="No kind of change can be tried.", wide=2)


def _value(found: Json, value: float | None) -> Amounts | str | None:
    if value is None:
        return "without limit" if found["figure"] == DESERVED else "none"
    if found["figure"] == SHARE:
        return percent(value)
    if found["figure"] == DESERVED:
        return amounts({found["resource"]: value})
    return f"{value:.0f} pod" if value == 1 else f"{value:.0f} pods"
