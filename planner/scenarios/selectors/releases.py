"""Which release of Volcano decides in a scenario?"""

from planner.clusters.models import Snapshot
from planner.clusters.selectors.contents import content_of
from planner.scenarios.models import Scenario
from planning.releases import DEFAULT_RELEASE, Release, known_releases, release_named, release_of_document


def release_used(scenario: Scenario) -> Release:
    """Return the release whose rules decide: the scenario's, else the snapshot's, else the default."""
    chosen = release_named(scenario.release) if scenario.release else None
    return chosen or release_of_document(content_of(scenario.snapshot).document)


def release_imported(snapshot: Snapshot) -> str:
    """Return the release that the imported scheduler runs, or the scenario names; empty when unknown."""
    name = content_of(snapshot).document.get("release")
    return name if isinstance(name, str) else ""


def release_choices(scenario: Scenario) -> list[tuple[str, str]]:
    """Return what can be chosen, with its meaning: the snapshot's release first, then the known ones."""
    imported = release_imported(scenario.snapshot)
    first = f"As imported: {imported}" if imported else f"Not imported: {DEFAULT_RELEASE.name} is assumed"
    names = known_releases()
    own = [scenario.release] if scenario.release and scenario.release not in names else []
    return [("", first), *((name, name) for name in [*names, *own])]
