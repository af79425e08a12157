"""What does an upgrade change for the input of a run?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from planner.runs.models import Run
from planning.releases import DEFAULT, known_releases, release_of_name

KINDS = {"scenario": "Whole scenario", "pod": "Pods", "job": "Jobs", "queue": "Queue figures"}
"""What can differ, in the order shown."""


@dataclass(frozen=True)
class Cause:
    """A rule in which two releases differ, and that changes something here."""

    id: str
    part: str
    since: str
    pull_requests: Sequence[int]
    before: str
    after: str


@dataclass(frozen=True)
class Changed:
    """What two releases say differently of one thing.

    `before` and `after` are None where a release says nothing; `together`: it takes all of `rules`, otherwise
    each of them alone is a cause.
    """

    kind: str
    name: str
    what: str
    before: Any
    after: Any
    rules: Sequence[str]
    together: bool

    @property
    def cause(self) -> str:
        """Return the rules as one text."""
        return (" with " if self.together else " or ").join(self.rules)


@dataclass(frozen=True)
class UpgradeImpact:
    """What an upgrade changes, in one sentence (`verdict`), by cause and by thing; `markdown`: a report."""

    verdict: str
    causes: Sequence[Cause]
    differences: Sequence[Changed]
    markdown: str

    @property
    def counts(self) -> Mapping[str, int]:
        """How many rows there are of each kind that has any, by its title."""
        return {
            title: count
            for kind, title in KINDS.items()
            if (count := sum(row.kind == kind for row in self.differences))
        }


def impact_of(run: Run, old: str, new: str) -> Run | None:
    """Return the newest question about an upgrade of a run's input, None when there was none (1 query)."""
    return run.searches.filter(old_release=old, new_release=new).order_by("-created").first()


def impact_found(impact: Run) -> UpgradeImpact | None:
    """Return what an upgrade changes; None until that is known (1 query)."""
    if impact.state != Run.State.SUCCEEDED or impact.result is None:
        return None
    data = impact.result.document()
    return UpgradeImpact(
        verdict=data["verdict"],
        causes=[Cause(**cause) for cause in data["rules"]],
        differences=[Changed(**row) for row in data["differences"]],
        markdown=data["markdown"],
    )


def impact_address(impact: Run) -> str:
    """Return the page of an impact."""
    query = urlencode({"from": impact.old_release, "to": impact.new_release})
    return f"{reverse('planner:run-upgrade', args=[impact.explains_id])}?{query}"


def release_of_run(run: Run) -> str:
    """Return the release that decided in a run (1 query)."""
    name = run.input.document().get("release")
    return name if isinstance(name, str) else DEFAULT


def usual_target(old: str) -> str:
    """Return the release to which an upgrade from another one usually leads: the next known one."""
    names = known_releases()
    later = names[names.index(release_of_name(old).name) + 1 :]
    return later[0] if later else DEFAULT
