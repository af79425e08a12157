"""Client calls about experiments."""

import time
from collections.abc import Mapping
from typing import Any

from queuecast.backend import Json, Progress
from queuecast.connection import OVER, POLL_SECONDS, Connection


class Experiments(Connection):
    """Calls about sweeps and searches. An experiment is named by its id, or by its name: the newest."""

    def experiments(self) -> list[Json]:
        """Return the experiments, newest first."""
        return list(self.server.rows("experiments/"))

    def experiment_start(self, written: Mapping[str, Any]) -> Json:
        """Queue an experiment, with its scenario or snapshot by name or id; return it."""
        return dict(self.server.call("POST", "experiments/", dict(written)).json)

    def experiment(self, experiment: str) -> Json:
        """Return an experiment: its document, its progress, the result of a search."""
        return dict(self.server.get(self._experiment(experiment)))

    def experiment_wait(self, experiment: str, progress: Progress | None = None) -> Json:
        """Return an experiment once it has finished."""
        path = self._experiment(experiment)
        while True:
            body = self._polled(path)
            done = body["progress"]
            if progress:
                progress(done["share"], f"{done['measured']} of {done['planned']} combinations")
            if body["state"] in OVER:
                return body
            time.sleep(POLL_SECONDS)

    def experiment_cells(self, experiment: str) -> list[Json]:
        """Return the cells that are measured so far: settings, price, figures, front."""
        return list(self.server.rows(f"{self._experiment(experiment)}cells/"))

    def experiment_cells_parquet(self, experiment: str) -> bytes:
        """Return the same cells as a Parquet file, units in the names of its columns."""
        path = f"{self._experiment(experiment)}cells/"
        return self.server.call("GET", path, headers={"Accept": "application/vnd.apache.parquet"}).body

    def experiment_cancel(self, experiment: str) -> Json:
        """Stop an experiment and keep the measured cells; return it."""
        return dict(self.server.call("POST", f"{self._experiment(experiment)}cancel/").json)

    def experiment_open(self, experiment: str, number: int, name: str = "") -> Json:
        """Create a scenario with the settings of a cell; return it."""
        body = {"name": name} if name else {}
        path = f"{self._experiment(experiment)}cells/{number}/scenario/"
        return dict(self.server.call("POST", path, body).json)

    def experiment_forecast(self, experiment: str, number: int) -> Json:
        """Start the forecast of a cell; return its id, and those of its scenario and trace."""
        path = f"{self._experiment(experiment)}cells/{number}/forecast/"
        return dict(self.server.call("POST", path).json)

    def _experiment(self, name: str) -> str:
        return f"experiments/{self._id('experiments', name)}/"
