"""The settings in which runs differ."""

from collections.abc import Sequence

from planner.runs.models import Run
from planning.run_settings import Difference, differing_settings


def settings_that_differ(runs: Sequence[Run]) -> list[Difference]:
    """Return the options that differ between runs, then the differences of their frozen inputs."""
    settings = {
        "cycles": [run.options.get("cycles") for run in runs],
        "explain": [run.options.get("explain") for run in runs],
        "engine_version": [run.engine_version for run in runs],
    }
    inputs = {run.input_id: run.input for run in runs}
    if len(inputs) == 1:
        return list(differing_settings(settings))
    documents = {digest: blob.document() for digest, blob in inputs.items()}
    return list(differing_settings(settings, [documents[run.input_id] for run in runs]))
