"""The release of Volcano whose rules apply to a scenario."""

from planner.clusters.models import Snapshot
from planner.clusters.selectors.contents import content_of
from planner.scenarios.models import Scenario
from planning.releases import DEFAULT_RELEASE, Release, known_releases, release_named, release_of_document


def release_used(scenario: Scenario) -> Release:
    """Return the release whose rules apply: the scenario's, else the snapshot's, else the default."""
    chosen = release_named(scenario.release) if scenario.release else None
    return chosen or release_of_document(content_of(scenario.snapshot).document)


def release_imported(snapshot: Snapshot) -> str:
    """Return the release of the imported scheduler, or of the scenario; empty if unknown."""
    name = content_of(snapshot).document.get("release")
    return name if isinstance(name, str) else ""


def release_choices(scenario: Scenario) -> list[tuple[str, str]]:
    """Return the releases to choose from with labels: the snapshot's release first, then the known ones."""
    imported = release_imported(scenario.snapshot)
    first = f"As imported: {imported}" if imported else f"Not imported: {DEFAULT_RELEASE.name} is assumed"
    names = known_releases()
    own = [scenario.release] if scenario.release and scenario.release not in names else []
    return [("", first), *((name, name) for name in [*names, *own])]
