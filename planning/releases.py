"""Which release of Volcano decides in a scenario?"""

from planner.clusters.models import Snapshot
from planner.scenarios.models import Scenario
from planning.contents import content_of
from planning.rows import Problem
from scheduler_core.release import DEFAULT_RELEASE, RELEASES, Release, release_named, release_of

DEFAULT = DEFAULT_RELEASE.name
"""The release that decides when none is known."""
LONGEST_NAME = 40


def release_of_name(name: str) -> Release:
    """Return the known release nearest to a version; the default for a text that is none."""
    return release_named(name) or DEFAULT_RELEASE


def release_used(scenario: Scenario) -> Release:
    """Return the release whose rules decide: the scenario's, else the snapshot's, else the default."""
    chosen = release_named(scenario.release) if scenario.release else None
    return chosen or release_of(content_of(scenario.snapshot).document)


def release_imported(snapshot: Snapshot) -> str:
    """Return the release that the imported scheduler runs, or the scenario names; empty when unknown."""
    name = content_of(snapshot).document.get("release")
    return name if isinstance(name, str) else ""


def known_releases() -> list[str]:
    """Return the names of the known releases, the oldest first."""
    return [release.name for release in RELEASES]


def release_problems(name: str, path: str = "release") -> list[Problem]:
    """Return why a text cannot be the release of a scenario; an empty one can."""
    if not name or (len(name) <= LONGEST_NAME and release_named(name) is not None):
        return []
    known = ", ".join(known_releases())
    says = "This is not a version of Volcano."
    return [Problem("release.unreadable", "error", says, path=path, fix=f"Choose one of {known}.")]


def release_choices(scenario: Scenario) -> list[tuple[str, str]]:
    """Return what can be chosen, with its meaning: the snapshot's release first, then the known ones."""
    imported = release_imported(scenario.snapshot)
    first = f"As imported: {imported}" if imported else f"Not imported: {DEFAULT_RELEASE.name} is assumed"
    names = known_releases()
    own = [scenario.release] if scenario.release and scenario.release not in names else []
    return [("", first), *((name, name) for name in [*names, *own])]
