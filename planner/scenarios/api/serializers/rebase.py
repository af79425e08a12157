"""The API bodies of rebases."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from planner.api.bodies import Body
from planner.api.serializers import ProblemSerializer
from planner.clusters.models import Snapshot
from planner.scenarios.api.serializers.history import DifferenceSerializer, difference_body
from planner.scenarios.models import Rebase
from planner.scenarios.selectors.scenarios import differences_on
from planning.rebase import Rebased
from planning.rebase.conflicts import SIDES, WHATS, ConflictId


class ConflictSerializer(serializers.Serializer[Any]):
    """An object or field that both sides changed, identified by kind, key and field."""

    what = serializers.ChoiceField(choices=WHATS)
    kind = serializers.CharField()
    key = serializers.CharField(help_text="Queues are named as in the older snapshot.")
    field = serializers.CharField(help_text="Empty: the whole object.")
    base = serializers.JSONField()
    ours = serializers.JSONField(help_text="For a whole object, the scenario's changes; null means removed.")
    theirs = serializers.JSONField(
        help_text="For a whole object, the newer snapshot's changes; null means removed."
    )
    also = serializers.ListField(
        child=serializers.CharField(), help_text="Objects to which this choice applies."
    )


class RebaseSerializer(serializers.Serializer[Any]):
    """The scenario on another snapshot; undecided conflicts have the scenario's value."""

    snapshot = serializers.UUIDField()
    revision = serializers.IntegerField()
    conflicts = ConflictSerializer(many=True)
    problems = ProblemSerializer(many=True)
    differences = DifferenceSerializer(many=True, help_text="Differences from the new snapshot.")


class RebaseWorkSerializer(serializers.ModelSerializer[Rebase]):
    """A rebase by a worker, because two large snapshots have to be compared."""

    owner = serializers.CharField(source="owner.username", allow_null=True, default=None)
    problems = ProblemSerializer(many=True, help_text="Why there is no branch.")

    class Meta:
        model = Rebase
        fields = [
            "id", "state", "scenario", "revision", "snapshot", "name", "owner", "progress", "doing", "error",
            "problems", "branch", "attempt", "cancel_requested", "created", "started", "finished",
        ]  # fmt: skip


class ChoiceSerializer(serializers.Serializer[Any]):
    """The choice of a side in one conflict."""

    kind = serializers.CharField(max_length=40)
    key = serializers.CharField(max_length=510, allow_blank=True, default="")
    field = serializers.CharField(max_length=1000, allow_blank=True, default="")
    take = serializers.ChoiceField(choices=SIDES)


class RebaseCreate(Body):
    """A scenario to rebase."""

    snapshot = serializers.UUIDField(
        help_text="A snapshot of the same workspace, usually of the same cluster."
    )
    name = serializers.CharField(
        max_length=253, required=False, help_text="Default: the name of the scenario."
    )
    choices = ChoiceSerializer(many=True, default=list)


def choices_of(listed: list[dict[str, str]]) -> dict[ConflictId, str]:
    """Return the choices of a request by conflict."""
    return {(one["kind"], one["key"], one["field"]): one["take"] for one in listed}


def rebase_body(snapshot: Snapshot, revision: int, carried: Rebased) -> dict[str, Any]:
    """Return the body of a rebase that is not saved."""
    return {
        "snapshot": snapshot.pk,
        "revision": revision,
        "conflicts": [asdict(conflict) for conflict in carried.conflicts],
        "problems": [asdict(problem) for problem in carried.problems],
        "differences": [difference_body(edit) for edit in differences_on(snapshot, carried.state)],
    }
