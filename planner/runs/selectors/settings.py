"""What were runs given that they do not have in common?"""

from collections.abc import Iterator, Sequence

from manifests.differences import Difference, differences
from planner.runs.models import Run

__all__ = ["Difference", "settings_that_differ"]


def settings_that_differ(runs: Sequence[Run]) -> list[Difference]:
    """Return how the runs were to be simulated, then what their frozen inputs do not say alike."""
    return [*_options(runs), *differences([run.input.document() for run in runs])]


def _options(runs: Sequence[Run]) -> Iterator[Difference]:
    told = {
        "cycles": tuple(run.options.get("cycles") for run in runs),
        "explain": tuple(run.options.get("explain") for run in runs),
        "engine_version": tuple(run.engine_version for run in runs),
    }
    for name, values in told.items():
        if len(set(values)) > 1:
            yield Difference("options", "", name, values)
