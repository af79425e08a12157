"""What do scripts read of why a run decided so? The rows of the pages, each amount with its unit."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from planner.api.serializers import (
    AmountSerializer,
    AmountsField,
    DecisionSerializer,
    JobOutcomeSerializer,
    QueueOutcomeSerializer,
    VictimSerializer,
    amount_body,
)
from planner.runs.models import Run
from planner.runs.selectors.searches import found
from planning.rows import DerivationStep, Shortage


class ReasonSerializer(serializers.Serializer[Any]):
    """A reason: its id, one sentence, and the numbers behind it."""

    id = serializers.CharField()
    sentence = serializers.CharField()
    numbers = serializers.DictField(help_text="Amounts in the scheduler's units; shares as fractions of 1.")


class VoteSerializer(serializers.Serializer[Any]):
    """What one plugin answered about one candidate."""

    tier = serializers.IntegerField()
    plugin = serializers.CharField()
    verdict = serializers.ChoiceField(choices=["permit", "refuse", "abstain"])
    counts = serializers.BooleanField(
        allow_null=True,
        help_text="False: its tier was passed over, or Volcano started afresh after it. "
        "Null for a run that did not keep it.",
    )
    reason = ReasonSerializer()


class SparedSerializer(serializers.Serializer[Any]):
    """A candidate that stayed, and the plugin that kept it."""

    pod = serializers.CharField()
    job = serializers.CharField()
    queue = serializers.CharField()
    node = serializers.CharField()
    tier = serializers.IntegerField(
        allow_null=True, help_text="The plugin's tier; null for a run that did not keep it."
    )
    plugin = serializers.CharField()
    reason = ReasonSerializer()


class SmallestSerializer(serializers.Serializer[Any]):
    """How few evictions would have been enough; where not `exact`, at least this many were needed."""

    count = serializers.IntegerField()
    exact = serializers.BooleanField()
    pods = serializers.ListField(child=serializers.CharField())
    reason = ReasonSerializer()


class VictimStorySerializer(serializers.Serializer[Any]):
    """Why one pod was selected as a victim."""

    order = serializers.IntegerField(help_text="Its step of the run.")
    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    job = serializers.CharField()
    queue = serializers.CharField()
    node = serializers.CharField()
    for_pod = serializers.CharField()
    for_job = serializers.CharField()
    for_queue = serializers.CharField()
    action = serializers.CharField()
    state = serializers.CharField()
    ran_seconds = serializers.FloatField(allow_null=True)
    tier = serializers.IntegerField(help_text="The tier that decided, from 1; 0: none.")
    reason = ReasonSerializer()
    votes = VoteSerializer(many=True)
    passed_over = ReasonSerializer(
        allow_null=True, help_text="Which votes do not count, and why; null where all do."
    )
    place = serializers.IntegerField(help_text="Its position among the pods evicted together.")
    first = ReasonSerializer(help_text="Why it was chosen before the next one.")
    freed = AmountsField()
    needed = AmountsField()
    together = serializers.ListField(child=serializers.CharField(), help_text="Pods, including this one.")
    freed_together = AmountsField()
    surplus = AmountsField()
    room = AmountsField(
        allow_null=True,
        help_text="Free on the node before; null for a gang, whose victims are on several nodes, "
        "and for runs that did not record it.",
    )
    left = AmountsField(
        allow_null=True, help_text="`room` plus `freed_together` minus `needed`; null if `room` is."
    )
    smallest = SmallestSerializer()
    spared_there = SparedSerializer(many=True, help_text="Candidates on the same node that were not chosen.")
    spared_by = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Candidates that stayed, on all nodes considered, by plugin.",
    )
    left_out = ReasonSerializer(
        allow_null=True, help_text="How many nodes were not considered; null where there is none."
    )


class FlowRowSerializer(serializers.Serializer[Any]):
    """Evictions from one queue for another by one action."""

    giver = serializers.CharField()
    taker = serializers.CharField()
    action = serializers.CharField()
    evicted = serializers.IntegerField(help_text="Pods; one that is evicted repeatedly counts once.")
    evictions = serializers.IntegerField(help_text="Evictions of these pods over all cycles.")
    kept = serializers.IntegerField(help_text="Pods that were selected but not evicted.")
    amounts = AmountsField(help_text="What the evicted pods held, each pod once.")


class FlowSerializer(serializers.Serializer[Any]):
    """Evictions between queues, most pods first."""

    flows = FlowRowSerializer(many=True)


class LoopPodSerializer(serializers.Serializer[Any]):
    """A pod that is evicted in each turn of a loop."""

    pod = serializers.CharField()
    job = serializers.CharField()
    queue = serializers.CharField()
    request = AmountsField()
    evicted_in = serializers.ListField(child=serializers.IntegerField(), help_text="Cycles of the run.")
    placed_in = serializers.ListField(child=serializers.IntegerField(), help_text="Cycles of the run.")
    ran_cycles = serializers.IntegerField(help_text="For how many cycles it runs in each turn.")


class LoopChangeSerializer(serializers.Serializer[Any]):
    """A change with which the loop was simulated to end."""

    reason = ReasonSerializer()
    changes = serializers.ListField(
        child=serializers.DictField(), help_text="Edits of the scenario: kind, key, field, before, after."
    )
    evicted = serializers.IntegerField(help_text="Evictions until the loop has ended.")
    waiting = serializers.IntegerField(help_text="Pods that wait at the end.")


class LoopSerializer(serializers.Serializer[Any]):
    """Evictions that never end: the cluster comes back to the same state, and pods were evicted."""

    first_cycle = serializers.IntegerField(help_text="The first cycle whose state comes back.")
    period = serializers.IntegerField(help_text="After how many cycles it comes back: one turn.")
    turns = serializers.IntegerField(help_text="Complete turns in this run.")
    pods = LoopPodSerializer(many=True)
    jobs = serializers.ListField(child=serializers.CharField())
    queues = serializers.ListField(child=serializers.CharField())
    waiting = serializers.ListField(
        child=serializers.CharField(), help_text="The jobs for which pods are evicted without effect."
    )
    evictions = serializers.IntegerField(help_text="In each turn.")
    lost_amounts = AmountsField(help_text="What the pods hold that are evicted in each turn.")
    lost_cycles = serializers.IntegerField(help_text="How long they run in each turn, in cycles.")
    lost_seconds = serializers.FloatField(help_text="The same in seconds of the simulated clock.")
    reason = ReasonSerializer()
    why = ReasonSerializer(many=True)
    changes = LoopChangeSerializer(many=True, help_text="What ends it, the fewest evictions first.")
    complete = serializers.BooleanField(help_text="Whether every change was tried.")


class LoopsSerializer(serializers.Serializer[Any]):
    """The eviction loops of a run."""

    loops = LoopSerializer(many=True)


class DerivationStepSerializer(serializers.Serializer[Any]):
    """A round of the division, or a level of the hierarchy."""

    plugin = serializers.CharField()
    number = serializers.IntegerField(help_text="The round from 1, or the level from 0.")
    queue = serializers.CharField(help_text="The queue of the level; empty for a round.")
    terms = serializers.DictField(help_text="Weights, shares, and whether the queue can take no more.")
    amounts = serializers.SerializerMethodField()
    clipped_by = serializers.DictField(child=serializers.CharField(), help_text="By resource.")

    @extend_schema_field(serializers.DictField(child=serializers.DictField(child=AmountSerializer())))
    def get_amounts(self, step: DerivationStep) -> dict[str, Any]:
        """Return the amounts of the step by name and resource."""
        return {
            name: {resource: amount_body(resource, value) for resource, value in amounts.items()}
            for name, amounts in step.amounts.items()
        }


class DerivationSerializer(serializers.Serializer[Any]):
    """How the deserved amount of a queue was calculated in the last cycle."""

    cycle = serializers.IntegerField()
    plugin = serializers.CharField()
    deserved = AmountsField()
    summary = ReasonSerializer()
    steps = DerivationStepSerializer(many=True)
    tree = DerivationStepSerializer(many=True, help_text="Levels of hierarchical drf.")
    tree_summary = ReasonSerializer(allow_null=True)


class QueueStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a queue, and why."""

    figures = QueueOutcomeSerializer()
    deserved = DerivationSerializer(allow_null=True, help_text="Null if nothing was recorded or calculated.")
    taken = FlowRowSerializer(many=True, help_text="Evictions from it.")
    given = FlowRowSerializer(many=True, help_text="Evictions for it.")


class ShortageSerializer(serializers.Serializer[Any]):
    """What a gate required of one resource."""

    resource = serializers.CharField()
    required = serializers.SerializerMethodField()  # type: ignore[assignment]  # a field, not the base's flag
    available = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()

    @extend_schema_field(AmountSerializer)
    def get_required(self, row: Shortage) -> dict[str, Any]:
        """Return what was required."""
        return amount_body(row.resource, row.required)

    @extend_schema_field(AmountSerializer)
    def get_available(self, row: Shortage) -> dict[str, Any]:
        """Return what was available; negative if a limit is exceeded."""
        return amount_body(row.resource, row.available)

    @extend_schema_field(AmountSerializer)
    def get_missing(self, row: Shortage) -> dict[str, Any]:
        """Return what was missing."""
        return amount_body(row.resource, row.missing)


class NodesRefusingSerializer(serializers.Serializer[Any]):
    """How many nodes reject a pod for one reason."""

    count = serializers.IntegerField(help_text="Nodes.")
    text = serializers.CharField()
    reason = ReasonSerializer()


class ClosestNodeSerializer(serializers.Serializer[Any]):
    """The node that lacks the least."""

    node = serializers.CharField()
    lacks = AmountsField()
    free = AmountsField()


class JobPendingSerializer(serializers.Serializer[Any]):
    """Why a job waits."""

    gate = serializers.CharField()
    plugin = serializers.CharField()
    queue = serializers.CharField(
        help_text="The queue that is out of resources: the job's own or an ancestor."
    )
    pod = serializers.CharField()
    members = serializers.DictField(child=serializers.IntegerField(), help_text="Pods.")
    reason = ReasonSerializer()
    short = ShortageSerializer(many=True)
    nodes = NodesRefusingSerializer(many=True)
    closest = ClosestNodeSerializer(allow_null=True)


class JobStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a job, and why."""

    outcome = JobOutcomeSerializer()
    pending = JobPendingSerializer(allow_null=True, help_text="Null if none of its pods waits.")
    decisions = DecisionSerializer(many=True, help_text="At most 200; `decisions/?job=` pages through all.")
    taken = VictimSerializer(many=True, help_text="Its own pods that were chosen as victims.")
    given = VictimSerializer(many=True, help_text="Pods chosen as victims for it.")


class PodPlaceSerializer(serializers.Serializer[Any]):
    """The place of a pod at the end of the run."""

    pod = serializers.CharField()
    job = serializers.CharField()
    status = serializers.CharField()
    node = serializers.CharField()
    why = serializers.CharField(help_text="Why it waits.")


class PodStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a pod."""

    reason = ReasonSerializer(help_text="Where it is, or why it waits, in one sentence.")
    place = PodPlaceSerializer(allow_null=True, help_text="Null if no job has it at the end.")
    decisions = DecisionSerializer(many=True, help_text="About it, and evictions for it; at most 200.")
    victims = VictimSerializer(many=True, help_text="Evictions of it and for it.")


class NodeMomentSerializer(serializers.Serializer[Any]):
    """The state of a node; `free` is idle plus releasing minus pipelined."""

    node = serializers.CharField()
    idle = AmountsField()
    releasing = AmountsField()
    pipelined = AmountsField()
    free = AmountsField()


class NodeStorySerializer(serializers.Serializer[Any]):
    """The result of a run for a node."""

    reason = ReasonSerializer(help_text="Its state at the end, in one sentence.")
    at_end = NodeMomentSerializer()
    pods = PodPlaceSerializer(many=True)
    decisions = DecisionSerializer(many=True, help_text="On it; at most 200.")
    victims = VictimSerializer(many=True)


class QueueMomentSerializer(serializers.Serializer[Any]):
    """The state of a queue."""

    queue = serializers.CharField()
    allocated = AmountsField()
    deserved = AmountsField()
    share = serializers.FloatField()


class StepSerializer(serializers.Serializer[Any]):
    """The state of queues and nodes after a step; step 0 is the start of the session."""

    step = DecisionSerializer(allow_null=True)
    steps = serializers.IntegerField(help_text="Number of steps.")
    cycle = serializers.IntegerField()
    queues = QueueMomentSerializer(many=True)
    nodes = NodeMomentSerializer(many=True)


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
        help_text="The reason of that check, else what the evictions made room for; null in old searches.",
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
    elsewhere = serializers.IntegerField(help_text="Pods that run on other nodes.")
    phase = PhaseSerializer()


class UnblockingSerializer(serializers.Serializer[Any]):
    """A change with which the job would run; one unit less of it was simulated, too, and is not enough."""

    id = serializers.CharField()
    reason = ReasonSerializer()
    runs = serializers.CharField(help_text="`at once`, `after evictions` or `after terminations`.")
    members = MembersSerializer()
    cost = serializers.IntegerField(help_text="Pods of other jobs that are evicted or lose their node.")
    refused = serializers.ListField(
        child=serializers.CharField(), help_text="Why Volcano's webhook would not take it as it is."
    )
    changes = FoundChangeSerializer(many=True)
    evicted = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="More pods evicted."
    )
    spared = serializers.ListField(
        child=serializers.DictField(child=serializers.CharField()), help_text="Pods no longer evicted."
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
    complete = serializers.BooleanField(help_text="Has every change been tried?")
    stopped = ReasonSerializer(allow_null=True, help_text="Why it ended early, and what was not tried.")
    changes = UnblockingSerializer(many=True)
    not_enough = ReasonSerializer(many=True, help_text="Kinds of change that do not help, one line each.")
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
        """Return what it found, or has found so far; null while that is nothing."""
        answer = found(search)
        return SearchFoundSerializer(answer).data if answer else None


def no_search(job: str) -> dict[str, Any]:
    """Return the answer for a job without a search."""
    nothing = {"state": None, "progress": 0.0, "doing": "", "error": "", "created": None, "finished": None}
    return {"job": job, **nothing, "found": None}
