"""The API bodies of victims, flows and loops."""

from typing import Any

from rest_framework import serializers

from planner.api.serializers import AmountsField


class ReasonSerializer(serializers.Serializer[Any]):
    """A reason: its id, one sentence, and the numbers behind it."""

    id = serializers.CharField()
    sentence = serializers.CharField()
    numbers = serializers.DictField(help_text="Amounts in the scheduler's units; shares as fractions of 1.")


class VoteSerializer(serializers.Serializer[Any]):
    """The vote of one plugin on one candidate."""

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
    """A candidate that was spared, and the plugin that protected it."""

    pod = serializers.CharField()
    job = serializers.CharField()
    queue = serializers.CharField()
    node = serializers.CharField()
    tier = serializers.IntegerField(
        allow_null=True, help_text="The plugin's tier; null for runs that did not record it."
    )
    plugin = serializers.CharField()
    reason = ReasonSerializer()


class SmallestSerializer(serializers.Serializer[Any]):
    """The smallest number of evictions that would have been enough; a lower bound if not `exact`."""

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
        allow_null=True, help_text="Which votes do not count, and why; null if all do."
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
        help_text="Spared candidates on all nodes that were considered, by plugin.",
    )
    left_out = ReasonSerializer(
        allow_null=True, help_text="How many nodes were not considered; null if none."
    )


class FlowRowSerializer(serializers.Serializer[Any]):
    """Evictions from one queue for another by one action."""

    giver = serializers.CharField()
    taker = serializers.CharField()
    action = serializers.CharField()
    evicted = serializers.IntegerField(help_text="Pods; one that is evicted repeatedly counts once.")
    evictions = serializers.IntegerField(help_text="Evictions of these pods over all cycles.")
    kept = serializers.IntegerField(help_text="Pods that were selected but not evicted.")
    amounts = AmountsField(help_text="The requests of the evicted pods, each pod once.")


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
    """An endless loop of evictions: the cluster returns to the same state after evicting pods."""

    first_cycle = serializers.IntegerField(help_text="The first cycle whose state recurs.")
    period = serializers.IntegerField(help_text="The number of cycles until it recurs: one turn.")
    turns = serializers.IntegerField(help_text="Complete turns in this run.")
    pods = LoopPodSerializer(many=True)
    jobs = serializers.ListField(child=serializers.CharField())
    queues = serializers.ListField(child=serializers.CharField())
    waiting = serializers.ListField(
        child=serializers.CharField(), help_text="The jobs for which pods are evicted without effect."
    )
    evictions = serializers.IntegerField(help_text="In each turn.")
    lost_amounts = AmountsField(help_text="The requests of the pods that are evicted in each turn.")
    lost_cycles = serializers.IntegerField(help_text="How long they run in each turn, in cycles.")
    lost_seconds = serializers.FloatField(help_text="The same in seconds of the simulated clock.")
    reason = ReasonSerializer()
    why = ReasonSerializer(many=True)
    changes = LoopChangeSerializer(
        many=True, help_text="The changes that end it, the fewest evictions first."
    )
    complete = serializers.BooleanField(help_text="Whether every change was tried.")


class LoopsSerializer(serializers.Serializer[Any]):
    """The eviction loops of a run."""

    loops = LoopSerializer(many=True)
