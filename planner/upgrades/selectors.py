"""The impact of an upgrade on the input of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from planner.runs.models import Run
from planning.amounts import UNLIMITED
from planning.releases import DEFAULT, known_releases, release_of_name
from planning.units import amount_text, written

KINDS = {"scenario": "Whole scenario", "pod": "Pods", "job": "Jobs", "queue": "Queue figures"}
"""The kinds of differences, in display order."""


@dataclass(frozen=True)
class Cause:
    """A rule that differs between two releases and changes something here."""

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

    @property
    def values(self) -> list[str]:
        """Both values for people: amounts with their unit, shares in per cent; empty for None."""
        return [self._text(value) for value in (self.before, self.after)]

    def _text(self, value: Any) -> str:
        figure = self.what.rpartition(": ")[2].removesuffix(" at the end")
        if value is None or isinstance(value, str) or self.kind != "queue":
            return "" if value is None else str(value)
        if figure == "share":
            return f"{written(round(100 * value, 1))} %"
        resource = figure.partition(" ")[2]
        return (
            ("unlimited" if value >= UNLIMITED else amount_text(resource, value)) if resource else str(value)
        )


@dataclass(frozen=True)
class UpgradeImpact:
    """The impact of an upgrade: one sentence (`verdict`), causes, differences, and a report (`markdown`).

    `notes` say what was assumed and what was not compared.
    """

    verdict: str
    notes: Sequence[str]
    causes: Sequence[Cause]
    differences: Sequence[Changed]
    markdown: str

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of rows of each kind that has any, by its title."""
        return {
            title: count
            for kind, title in KINDS.items()
            if (count := sum(row.kind == kind for row in self.differences))
        }


def impact_of(run: Run, old: str, new: str) -> Run | None:
    """Return the newest request for an upgrade's impact on a run's input, None without one (1 query)."""
    return run.searches.filter(old_release=old, new_release=new).order_by("-created").first()


def impact_found(impact: Run) -> UpgradeImpact | None:
    """Return the impact of an upgrade; None until it is known (1 query)."""
    if impact.state != Run.State.SUCCEEDED or impact.result is None:
        return None
    data = impact.result.document()
    return UpgradeImpact(
        verdict=data["verdict"],
        notes=data.get("notes", ()),
        causes=[Cause(**cause) for cause in data["rules"]],
        differences=[Changed(**row) for row in data["differences"]],
        markdown=data["markdown"],
    )


def impact_address(impact: Run) -> str:
    """Return the page of an impact."""
    query = urlencode({"from": impact.old_release, "to": impact.new_release})
    return f"{reverse('planner:run-upgrade', args=[impact.explains_id])}?{query}"


def release_of_run(run: Run) -> str:
    """Return the release whose rules a run followed (1 query)."""
    name = run.input.document().get("release")
    return name if isinstance(name, str) else DEFAULT


def usual_target(old: str) -> str:
    """Return the usual target of an upgrade from a release: the next known one."""
    names = known_releases()
    later = names[names.index(release_of_name(old).name) + 1 :]
    return later[0] if later else DEFAULT
