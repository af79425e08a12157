"""Every recorded scenario gives the results of the other releases of Volcano."""

from __future__ import annotations

import pytest

from scheduler_core import Options, simulate_document
from scheduler_core.parity import first_difference
from scheduler_core.release import RELEASES, Rule, release_named
from scheduler_core.result import encoded
from tests.fidelity.versions import OTHERS, VERSIONS, differences, minimal

pytestmark = pytest.mark.skipif(
    not VERSIONS.is_dir(), reason=f"no recordings at {VERSIONS} (QUEUECAST_SHARED)"
)


@pytest.mark.parametrize("release", OTHERS)
def test_sampled_recordings_that_differ_under_another_release_are_equal(release: str) -> None:
    count, parted = differences(release, with_same=False, step=12)
    assert count > 25
    assert parted == []


@pytest.mark.long
@pytest.mark.parametrize("release", OTHERS)
def test_all_recordings_of_another_release_are_equal(release: str) -> None:
    count, parted = differences(release)
    assert count > 1000
    assert parted == []


@pytest.mark.parametrize("release", [release.name for release in RELEASES])
def test_minimal_scenarios_end_as_recorded(release: str) -> None:
    for recording in minimal(release):
        ours = simulate_document(recording.scenario, Options(explain=False))
        assert first_difference(ours, recording.result) is None, recording.scenario["name"]


def test_naming_the_default_release_does_not_change_the_result() -> None:
    for recording in minimal("v1.15.1"):
        named = dict(recording.scenario)
        unnamed = {key: value for key, value in named.items() if key != "release"}
        assert b"".join(encoded(simulate_document(named))) == b"".join(encoded(simulate_document(unnamed)))


def test_newest_release_follows_every_rule_and_the_oldest_none() -> None:
    oldest, newest = RELEASES[0], RELEASES[-1]
    for rule in Rule:
        assert newest.follows(rule)
        assert not oldest.follows(rule)


@pytest.mark.parametrize(
    ("named", "nearest"),
    [
        ("v1.14.4", "v1.14.4"),
        ("1.14", "v1.14.4"),
        ("v1.14.0-alpha.1", "v1.14.4"),
        ("v1.12.3", "v1.14.4"),
        ("v1.15.0", "v1.15.1"),
        ("v1.16.0", "v1.16.0-alpha.1"),
        ("v2.0.0", "v1.16.0-alpha.1"),
    ],
)
def test_version_maps_to_the_nearest_known_release(named: str, nearest: str) -> None:
    release = release_named(named)
    assert release is not None
    assert release.name == nearest


def test_unknown_patch_release_is_noted() -> None:
    scenario = {**next(minimal("v1.15.1")).scenario, "release": "v1.15.7"}
    notes = simulate_document(scenario)["notes"]
    assert "Assumed: Volcano v1.15.7 decides as v1.15.1 does, the nearest known release." in notes


def test_invalid_release_is_refused() -> None:
    scenario = {**next(minimal("v1.15.1")).scenario, "release": "latest"}
    assert "not a Volcano version" in simulate_document(scenario)["error"]


def test_gang_actions_are_unknown_to_a_release_without_them() -> None:
    scenario = {"scheduler_conf": {"actions": "gangreclaim", "tiers": []}, "release": "v1.14.4"}
    assert "failed to find action 'gangreclaim'" in simulate_document(scenario)["error"]
