"""The API bodies of searches for what would unblock a job."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.runs.api.serializers.evictions import ReasonSerializer
from planner.runs.models import Run
from planner.runs.selectors.searches import found


class CheckSerializer(serializers.Serializer[Any]):
    """One check on the path to an eviction, and its result."""

    passed = serializers.BooleanField()
    reason = ReasonSerializer()


class ChecklistSerializer(serializers.Serializer[Any]):
    """Why an action evicted, or did not evict, pods for a job."""

    action = serializers.CharField()
    evicted = serializers.IntegerField(help_text="Pods that it evicted for the job.")
    stopped_at = serializers.CharField(help_text="The first check that failed; empty when none did.")
    conclusion = ReasonSerializer(
        allow_null=True,
        help_text="The reason of that check, or the purpose of the evictions; null in old searches.",
    )
    checks = CheckSerializer(many=True)


class FoundChangeSerializer(serializers.Serializer[Any]):
    """An edit of a scenario: one field, or a whole object if `field` is empty; null means absent."""

    kind = serializers.CharField()
    key = serializers.CharField()
    field = serializers.CharField()
    before = serializers.JSONField()
    after = serializers.JSONField()


class MembersSerializer(serializers.Serializer[Any]):
    """A job's pods once a change was made."""

    minimum = serializers.IntegerField(help_text="Pods: minMember.")
    placed = serializers.IntegerField(help_text="Pods.")
    pipelined = serializers.IntegerField(help_text="Pods.")
    pending = serializers.IntegerField(help_text="Pods.")


class BeforeAfterSerializer(serializers.Serializer[Any]):
    """A number of pods without and with a change."""

    before = serializers.IntegerField(help_text="Pods.")
    after = serializers.IntegerField(help_text="Pods.")


class PhaseSerializer(serializers.Serializer[Any]):
    """A PodGroup's phase without and with a change."""

    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class ChangedJobSerializer(serializers.Serializer[Any]):
    """Another job that has a different outcome with a change."""

    job = serializers.CharField()
    queue = serializers.CharField()
    placed = BeforeAfterSerializer()
    pipelined = BeforeAfterSerializer()
    kept = serializers.IntegerField(help_text="Pods that are placed without and with the change.")
    elsewhere = serializers.IntegerField(help_text="How many of these run on other nodes.")
    phase = PhaseSerializer()


class RepeatedEvictionSerializer(serializers.Serializer[Any]):
    """A pod that is evicted with and without the change, a different number of times."""

    pod = serializers.CharField()
    job = serializers.CharField()
    queue = serializers.CharField()
    before = serializers.IntegerField(help_text="Evictions over all cycles without the change.")
    after = serializers.IntegerField(help_text="Evictions over all cycles with the change.")


class UnblockingSerializer(serializers.Serializer[Any]):
    """A change with which the job would run; one unit less is not enough, as a simulation showed."""

    id = serializers.CharField()
    reason = ReasonSerializer()
    runs = serializers.CharField(
        help_text="`at once`, `after evictions`, `after terminations` or `in a later session`; `pipelined` "
        "if later sessions do not bind it."
    )
    members = MembersSerializer()
    cost = serializers.IntegerField(help_text="Pods of other jobs that are evicted or lose their node.")
    changes = FoundChangeSerializer(many=True)
    evicted = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="More pods evicted."
    )
    spared = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="Pods no longer evicted."
    )
    repeated = RepeatedEvictionSerializer(
        many=True, help_text="Pods that are evicted in both cases, but more or less often."
    )
    changed = ChangedJobSerializer(many=True, help_text="Every other job with a different outcome.")
    stopped = serializers.ListField(
        child=serializers.CharField(), help_text="Jobs that drop below minMember."
    )
    started = serializers.ListField(
        child=serializers.CharField(), help_text="Other jobs that reach minMember."
    )


class SearchFoundSerializer(serializers.Serializer[Any]):
    """What a search found."""

    waits = serializers.BooleanField(
        help_text="Whether the job waits; otherwise there is nothing to unblock."
    )
    simulations = serializers.IntegerField()
    complete = serializers.BooleanField(help_text="Whether every change was tried.")
    stopped = ReasonSerializer(allow_null=True, help_text="Why it ended early, and what it did not try.")
    changes = UnblockingSerializer(many=True)
    not_enough = ReasonSerializer(
        many=True,
        help_text="Kinds of change that do not help, and changes that the webhook refuses, one line each.",
    )
    checklist = ChecklistSerializer(many=True)


class SearchSerializer(serializers.Serializer[Any]):
    """A search for what would unblock a job."""

    job = serializers.CharField()
    state = serializers.ChoiceField(
        choices=Run.State.choices, allow_null=True, help_text="Null if no search was started."
    )
    progress = serializers.FloatField()
    doing = serializers.CharField()
    error = serializers.CharField()
    created = serializers.DateTimeField(allow_null=True)
    finished = serializers.DateTimeField(allow_null=True)
    found = serializers.SerializerMethodField()

    @extend_schema_field(SearchFoundSerializer(allow_null=True))
    def get_found(self, search: Run) -> dict[str, Any] | None:
        """Return what it has found so far; null if nothing."""
        answer = found(search)
        return SearchFoundSerializer(answer).data if answer else None


def no_search(job: str) -> dict[str, Any]:
    """Return the body for a job without a search."""
    nothing = {"state": None, "progress": 0.0, "doing": "", "error": "", "created": None, "finished": None}
    return {"job": job, **nothing, "found": None}
