"""Answers as plain data, the same for the API and for files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import manifests
from planning.contents import Overlay, queue_manifests, scenario_objects
from planning.documents import items
from planning.queues import QueueFields
from planning.reach.figures import Unanswered
from planning.reach.questions import DESERVED, SHARE, Question, question_of
from planning.reach.search import Found, Reached, reached
from planning.rows import Problem

Json = Mapping[str, Any]
_UNITS = {"cpu": "millicores", "memory": "bytes", "pods": "pods"}


def question_document(
    objects: Json, *, queues: Sequence[QueueFields], conf_text: str, overlay: Overlay, release: str
) -> dict[str, Any]:
    """Return a scenario as a document with its configuration as a structure; lists are those of `objects`.

    Raises
    ------
    Unanswered
        If the configuration cannot be read.

    """
    document = {
        **scenario_objects(objects, queues=queues, overlay=overlay),
        "queues": queue_manifests(queues, objects),
        **({"scheduler_conf": conf_text} if conf_text.strip() else {}),
        **({"release": release} if release else {}),
    }
    return resolved(document)


def resolved(document: Json) -> dict[str, Any]:
    """Return a document with its configuration as a structure and its lists as lists.

    Raises
    ------
    Unanswered
        If the configuration cannot be read.

    """
    try:
        whole = manifests.resolve(dict(document))
    except manifests.Unreadable as error:
        raise Unanswered(f"The scheduler configuration cannot be read: {error}.") from None
    return {**whole, **{kind: list(items(whole.get(kind))) for kind in ("queues", "nodes")}}


def answer_to(params: Mapping[str, str], document: Json) -> tuple[dict[str, Any], list[Problem]]:
    """Return the answer to a question as entered, or all problems with it; one of the two is empty."""
    question, problems = question_of(params)
    if question is None:
        return {}, problems
    try:
        return answer_of(reached(resolved(document), question)), []
    except Unanswered as error:
        return {}, [unanswered(error)]


def unanswered(error: Unanswered) -> Problem:
    """Return as a problem why a figure has no value."""
    fix = "Choose a figure that the workbench shows, or a job with waiting pods."
    return Problem("reach.unanswered", "error", str(error), path="figure", field="figure", fix=fix)


def answer_of(answer: Reached) -> dict[str, Any]:
    """Return an answer as plain data.

    Returns
    -------
    dict
        The question (`figure`, `queue`, `resource`, `job`, `at_least`, `at_most`; None: not given), `unit` of
        its amounts, `now` (None: without limit), `met` (nothing needs to change), `complete` (no kind is
        undecided), `limit` (why no step reaches the amount; empty: one does, or the reason is unknown) and
        `changes`. Each of these has its `kind` and `name`, what moves (`queue`, or `like` and `pool`),
        `before`, `status` (`found`, `none`, `undecided`), `after` (None: not found), `value` of the figure
        after it, or after the last change tried, `patch` of the queue or `count` of nodes, `smaller` (the
        largest smaller change, which was tried; None: there is none), `refused`, and of the grid `tried`,
        `points` and `largest`.

    """
    question = answer.question
    bound = {"at_least": question.amount if question.is_least else None}
    return {
        "figure": question.figure,
        "queue": question.queue,
        "resource": question.resource,
        "job": question.job,
        **bound,
        "at_most": None if question.is_least else question.amount,
        "unit": unit_of(question),
        "now": _finite(answer.now),
        "met": answer.is_met,
        "complete": answer.is_complete,
        "limit": answer.limit,
        "changes": [_change(found) for found in answer.found],
    }


def unit_of(question: Question) -> str:
    """Return the unit of a question's amounts; for a share, 1 is all of deserved."""
    if question.figure == DESERVED:
        return _UNITS.get(question.resource, "milliunits")
    return "of deserved" if question.figure == SHARE else "pods"


def _change(found: Found) -> dict[str, Any]:
    kind, move, moves = found.kind, found.move, found.kind.moves
    before = found.tried - (2 if move is not None else 1)
    return {
        "kind": kind.field,
        "name": kind.name,
        "queue": kind.queue,
        "like": kind.like,
        "pool": kind.pool,
        "before": kind.before,
        "status": found.status,
        "after": move.after if move is not None else None,
        "value": _finite(found.value),
        "patch": dict(move.patch) if move is not None else {},
        "count": move.count if move is not None else 0,
        "smaller": moves[before].after if before >= 0 else None,
        "refused": found.refused,
        "tried": found.tried,
        "points": len(moves),
        "largest": moves[-1].after,
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value
