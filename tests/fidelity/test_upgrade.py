"""Every difference between releases is found and attributed to the rule that causes it."""

from __future__ import annotations

from itertools import islice

import pytest

from scheduler_core import Options, prepare, simulate_document
from scheduler_core.parity import first_difference
from scheduler_core.release import DEFAULT_RELEASE, RELEASES, Release, Rule, release_named
from scheduler_core.upgrade import replay_impact, upgrade_impact
from tests.fidelity.versions import OTHERS, VERSIONS, Recording, minimal, recordings
from tests.scheduler_core.replays import small_replay
from tests.trials import trials

pytestmark = pytest.mark.skipif(
    not VERSIONS.is_dir(), reason=f"no recordings at {VERSIONS} (QUEUECAST_SHARED)"
)

CAUSES = {
    "inqueue": Rule.INQUEUE_REMAINDER,
    "reclaim": Rule.RECLAIM_ROLLBACK,
    "preempt": Rule.PREEMPT_ROLLBACK,
    "victimorder": Rule.VICTIM_ORDER_BY_PLUGINS,
    "realcap": Rule.RECLAIM_WITHIN_REAL_CAPABILITY,
    "capvictims": Rule.CAPACITY_VICTIM_ORDER,
    "everr": Rule.FAILED_RESERVE_LEAVES_NO_POD,
    "batch/affnorm": Rule.NODE_SCORES_IN_BATCH,
    "ancestorReclaimLevel?": Rule.ANCESTOR_RECLAIM_LEVEL,
    "gangreclaim-missing": Rule.GANG_EVICTION,
    "balanced-allocation": Rule.BALANCE_IMPROVEMENT,
    "job-enqueued": Rule.RESERVE_WHEN_ENQUEUED,
}


def releases(name: str) -> tuple[Release, Release]:
    """Return a release and the default one, the older one first."""
    other = release_named(name)
    assert other is not None
    older, newer = sorted((other, DEFAULT_RELEASE), key=RELEASES.index)
    return older, newer


def unnamed(recording: Recording) -> dict[str, object]:
    return {key: value for key, value in recording.scenario.items() if key != "release"}


def agreement(name: str, step: int) -> float:
    """Return the share of a release's recordings for which the found causes equal the recorded ones."""
    older, newer = releases(name)
    equal = []
    for recording in recordings(name, with_same=False, step=step):
        if recording.causes:
            found = upgrade_impact(prepare(unnamed(recording)), older, newer).causes
            equal.append(set(found) == {CAUSES[cause] for cause in recording.causes})
    return sum(equal) / len(equal)


def test_causes_of_sampled_recorded_differences_are_found() -> None:
    assert agreement("v1.16.0-alpha.1", 100) >= 0.95


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_causes_of_all_recorded_differences_are_found(name: str) -> None:
    assert agreement(name, 1) >= 0.95


@pytest.mark.parametrize("step", trials([48, 24, 12], always=1))
def test_the_rules_of_every_difference_are_among_the_causes_and_an_absent_figure_is_0(step: int) -> None:
    older, newer = releases("v1.14.4")
    for recording in recordings("v1.14.4", with_same=False, step=step):
        impact = upgrade_impact(prepare(unnamed(recording)), older, newer)
        assert impact.causes, "the recorded results differ"
        for difference in impact.differences:
            assert {*difference.rules} <= {*impact.causes}
            assert difference.item.kind != "queue" or (difference.old or 0) != (difference.new or 0)


@pytest.mark.parametrize("name", OTHERS)
def test_every_difference_names_its_rules_and_both_answers(name: str) -> None:
    older, newer = releases(name)
    for recording in minimal(name):
        impact = upgrade_impact(prepare(unnamed(recording)), older, newer)
        for difference in impact.differences:
            assert difference.rules
            assert difference.old != difference.new


def test_needless_eviction_is_attributed_to_the_two_rules_that_prevent_it() -> None:
    older, newer = releases("v1.14.4")
    scenario = next(
        entry for entry in minimal("v1.14.4") if entry.scenario["name"] == "min114-reclaim-needless"
    )
    impact = upgrade_impact(prepare(unnamed(scenario)), older, newer)
    evictions = [difference for difference in impact.of_kind("pod") if "evicted by" in difference.item.what]
    assert [(entry.old, entry.new, entry.together) for entry in evictions] == [("reclaim", None, True)]
    assert set(evictions[0].rules) == {Rule.RECLAIM_ROLLBACK, Rule.CAPACITY_VICTIM_ORDER}


def test_nothing_differs_between_a_release_and_itself() -> None:
    for recording in islice(minimal("v1.15.1"), 3):
        impact = upgrade_impact(prepare(unnamed(recording)), DEFAULT_RELEASE, DEFAULT_RELEASE)
        assert (impact.differences, impact.causes) == ([], [])


def test_switching_the_causes_back_gives_the_older_releases_result() -> None:
    """Each attribution is a simulation: here the causes are switched back by hand."""
    older, newer = releases("v1.14.4")
    for recording in minimal("v1.14.4"):
        prepared = prepare(unnamed(recording))
        causes = upgrade_impact(prepared, older, newer).causes
        switched = prepared.simulate(options=Options(explain=False, release=newer.switched(causes)))
        named = simulate_document({**unnamed(recording), "release": older.name}, Options(explain=False))
        assert first_difference(switched, named) is None, recording.scenario["name"]


@pytest.mark.parametrize("seed", trials(range(3), always=1))
def test_replay_impact_lists_only_jobs_and_their_rules(seed: int) -> None:
    document = small_replay(seed)
    impact = replay_impact(document, RELEASES[0], RELEASES[-1])
    for difference in impact.differences:
        assert difference.item.kind in ("job", "scenario")
        assert difference.rules
