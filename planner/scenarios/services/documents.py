"""Edits of many objects of a scenario in one revision: queues, configuration, other objects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db import transaction

from planner.accounts.models import User
from planner.clusters.selectors.contents import content_if_needed
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import first_queues, objects_in, state_of
from planner.scenarios.services.history import state_save
from planner.scenarios.services.objects import objects_edited
from planner.scenarios.services.revisions import revision_lock
from planning.change_descriptions import KIND_WORDS
from planning.conf import conf_problems
from planning.importing import read_objects
from planning.objects import object_problems
from planning.queue_edits import queue_problems, removal_problems
from planning.queues import Queue, added_again, apply_spec, queue_row, queue_spec
from planning.rows import Problem
from planning.states import (
    CONF,
    KINDS,
    QUEUES,
    Edit,
    ObjectKey,
    State,
    kept_queue,
    object_key,
    touched_objects,
)

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """The desired state of a scenario: objects, and keys of objects to remove, by list."""

    objects: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    removed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conf: str | None = None
    """None leaves the configuration unchanged."""
    documents: str = ""
    """Objects as text, including the scheduler's ConfigMap."""


@transaction.atomic
def document_update(
    *, scenario: Scenario, wanted: Wanted, expected_revision: int, user: User | None = None
) -> Scenario:
    """Bring a scenario to the desired state in one revision; none if nothing changes.

    Raises RoleTooLow, StaleRevision, and Invalid with every problem; then nothing was saved.
    """
    revision_lock(scenario=scenario, expected=expected_revision, user=user)
    state = state_of(scenario)
    edits = state_edited(scenario=scenario, state=state, wanted=wanted)
    state_save(scenario=scenario, state=state, edits=edits, user=user)
    return scenario


def state_edited(*, scenario: Scenario, state: State, wanted: Wanted) -> list[Edit]:
    """Bring a state of a scenario to the desired one, unsaved; return the edits.

    Raises Invalid with every problem.
    """
    wanted = _read(wanted)
    problems = [*_contradictions(wanted)]
    edits = [
        *_conf(state, wanted.conf, problems),
        *_queues(
            state,
            wanted.objects.get(QUEUES, ()),
            wanted.removed.get(QUEUES, ()),
            first_queues(scenario.snapshot),
            problems,
        ),
        *_objects(scenario, state, wanted, problems),
    ]
    if problems:
        raise Invalid(problems)
    content_if_needed(scenario.snapshot).settle(state, touched_objects(edits))
    return edits


def _read(wanted: Wanted) -> Wanted:
    """Return the desired state including the objects of its text; raise Invalid for an invalid text."""
    if not wanted.documents:
        return wanted
    read = read_objects(wanted.documents, keep=settings.KEEP_ANNOTATIONS)
    if problems := [problem for problem in read.problems if problem.is_error]:
        raise Invalid(problems)
    objects = {
        kind: [*wanted.objects.get(kind, ()), *(read.document.get(kind) or ())] for kind in (QUEUES, *KINDS)
    }
    return replace(wanted, objects=objects, conf=wanted.conf or read.scheduler_conf or None, documents="")


def _contradictions(wanted: Wanted) -> Iterator[Problem]:
    """Yield a problem for each object that is to be both written and removed."""
    for kind, keys in wanted.removed.items():
        written = {
            manifest["metadata"]["name"] if kind == QUEUES else object_key(kind, manifest)
            for manifest in wanted.objects.get(kind, ())
        }
        for key in sorted(written.intersection(keys)):
            message = f"{KIND_WORDS[kind]} {key} is both written and removed"
            yield Problem("edit.contradiction", "error", message, f"removed.{kind}", fix="name it once")


def _conf(state: State, text: str | None, problems: list[Problem]) -> list[Edit]:
    if text is None or text == state.conf_text:
        return []
    problems += [problem for problem in conf_problems(text) if problem.is_error]
    before, state.conf_text = state.conf_text, text
    return [Edit(CONF, before=before, after=text)]


def _queues(
    state: State,
    manifests: Sequence[Json],
    removed: Sequence[str],
    imported: Sequence[Queue],
    problems: list[Problem],
) -> list[Edit]:
    """Write queues into a state; return the edits, and append problems of those that are impossible."""
    # Of two objects of one name the last one counts.
    manifests = list({manifest["metadata"]["name"]: manifest for manifest in manifests}.values())
    gone = [state.queues.pop(name) for name in removed if name in state.queues]
    edits = [Edit(QUEUES, row.name, before=kept_queue(row)) for row in gone]
    if wrong := object_problems({(QUEUES, manifest["metadata"]["name"]): manifest for manifest in manifests}):
        problems += wrong
        return []
    rows = [queue_row(manifest) for manifest in manifests]
    parents = {name: row.parent for name, row in state.queues.items()} | {
        row.name: row.parent for row in rows
    }
    position = max((row.position for row in state.queues.values()), default=-1)
    for wanted, manifest in zip(rows, manifests, strict=True):
        fields, present = queue_spec(wanted), state.queues.get(wanted.name)
        written = {**fields, **(manifest.get("spec") or {})}
        if present is None:
            others = {name: parent for name, parent in parents.items() if name != wanted.name}
            problems += queue_problems("", written, others)
            position += 1
            wanted.position = position
            added = added_again(wanted, imported, state.queues.values())
            state.queues[added.name] = added
            edits.append(Edit(QUEUES, added.name, after=kept_queue(added)))
            continue
        problems += queue_problems(wanted.name, written, parents | {wanted.name: ""})
        edits += _changed(present, fields)
    for row in gone:
        left = [child.name for child in state.queues.values() if child.parent == row.name]
        problems += removal_problems(row.name, [row.name, *left], subtree=False)
    return edits


def _changed(row: Queue, fields: Json) -> list[Edit]:
    before = queue_spec(row)
    apply_spec(row, fields)
    after = queue_spec(row)
    return [
        Edit(QUEUES, row.name, name, before[name], after[name])
        for name in after
        if after[name] != before[name]
    ]


def _objects(scenario: Scenario, state: State, wanted: Wanted, problems: list[Problem]) -> list[Edit]:
    """Write the other objects into a state; return the edits, and append problems of impossible ones."""
    manifests: dict[ObjectKey, Json | None] = {
        (kind, object_key(kind, manifest)): manifest
        for kind, listed in wanted.objects.items()
        if kind != QUEUES
        for manifest in listed
    }
    manifests |= {
        (kind, key): None for kind, keys in wanted.removed.items() if kind != QUEUES for key in keys
    }
    edits, found = objects_edited(objects_in(scenario, state), manifests)
    problems += found
    return edits
