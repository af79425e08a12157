"""Edits of a scenario's nodes. One call makes one revision, for any number of nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import transaction

from planner.accounts.models import User
from planner.errors import Invalid
from planner.scenarios.models import Scenario
from planner.scenarios.selectors.scenarios import objects_in, state_of
from planner.scenarios.services.objects import objects_write
from planner.scenarios.services.revisions import revision_lock
from planning.contents import Objects
from planning.nodes import MOST_NODES, name_problems, node_patched, numbered_names
from planning.rows import Problem
from planning.states import Json

NODES = "nodes"


@transaction.atomic
def node_create(
    *, scenario: Scenario, manifest: Mapping[str, Any], expected_revision: int, user: User | None = None
) -> str:
    """Add one node, given as a Kubernetes object; return its name. Raises as `objects_write` does."""
    objects = _locked(scenario, expected_revision, user)
    name = _name_of(manifest)
    if problems := name_problems(NODES, name) or _taken(objects, [str(name)]):
        raise Invalid(problems)
    wanted = {(NODES, str(name)): dict(manifest)}
    objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)
    return str(name)


@transaction.atomic
def nodes_add(
    *,
    scenario: Scenario,
    prefix: str,
    count: int,
    made: Callable[[str], Json],
    expected_revision: int,
    user: User | None = None,
) -> list[str]:
    """Add `count` nodes, each created from its name; return the names. Raises as `objects_write` does."""
    objects = _locked(scenario, expected_revision, user)
    there = objects.of_kind(NODES)
    if problems := [*name_problems(NODES, prefix), *_count_problems(count, len(there))]:
        raise Invalid(problems)
    names = numbered_names(prefix, count, there)
    wanted = {(NODES, name): made(name) for name in names}
    objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)
    return names


@transaction.atomic
def nodes_update(
    *,
    scenario: Scenario,
    names: Sequence[str],
    patch: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    expected_revision: int,
    user: User | None = None,
) -> list[str]:
    """Apply the merge patch that `patch` returns for each node; return the names of changed nodes.

    Raises as `objects_write` does, and Invalid for an unknown name or a patch that changes the name.
    """
    objects = _locked(scenario, expected_revision, user)
    present = _present(objects, names)
    wanted = {(NODES, name): node_patched(node, patch(node)) for name, node in present.items()}
    problems = [
        problem for (_, name), node in wanted.items() if _name_of(node) != name for problem in _renamed(name)
    ]
    if problems:
        raise Invalid(problems)
    changed = objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)
    return [name for _, name in changed]


@transaction.atomic
def nodes_remove(
    *, scenario: Scenario, names: Sequence[str], expected_revision: int, user: User | None = None
) -> list[str]:
    """Remove nodes; their pods stay, but use no resources of any node. Raises as `nodes_update` does."""
    objects = _locked(scenario, expected_revision, user)
    wanted = {(NODES, name): None for name in _present(objects, names)}
    objects_write(scenario=scenario, wanted=wanted, expected_revision=expected_revision, user=user)
    return [name for _, name in wanted]


def _locked(scenario: Scenario, expected: int, user: User | None) -> Objects:
    revision_lock(scenario=scenario, expected=expected, user=user)
    return objects_in(scenario, state_of(scenario))


def _present(objects: Objects, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    found = {name: node for name in names if (node := objects.get(NODES, name)) is not None}
    if missing := [name for name in names if name not in found]:
        message = "No such node."
        raise Invalid(
            [
                Problem(
                    "node.missing", "error", message, path=f"nodes.{name}", actual=name, fix="Choose another."
                )
                for name in missing
            ]
        )
    return found


def _name_of(node: Mapping[str, Any]) -> Any:
    metadata = node.get("metadata")
    return metadata.get("name") if isinstance(metadata, Mapping) else None


def _taken(objects: Objects, names: Sequence[str]) -> list[Problem]:
    message = "A node with this name already exists."
    return [
        Problem("name.taken", "error", message, path=f"nodes.{name}", actual=name, fix="Choose another name.")
        for name in names
        if objects.get(NODES, name) is not None
    ]


def _renamed(name: str) -> list[Problem]:
    message = "A node cannot be renamed."
    fix = "Add a node with the new name and remove this one."
    return [
        Problem("node.name_fixed", "error", message, path=f"nodes.{name}.metadata.name", actual=name, fix=fix)
    ]


def _count_problems(count: int, there: int) -> list[Problem]:
    limit = MOST_NODES - there
    if 1 <= count <= limit:
        return []
    message = f"{count} is not between 1 and {limit}; a scenario has at most {MOST_NODES} nodes."
    fix = f"Enter a whole number from 1 to {limit}."
    return [Problem("number.range", "error", message, path="count", actual=count, limit=limit, fix=fix)]
