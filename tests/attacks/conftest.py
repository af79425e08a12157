"""The product's fixtures: a script with a token, a logged-in browser, a finished run."""

from tests.planner.conftest import api, browser, finished_run

__all__ = ["api", "browser", "finished_run"]
