"""The product's fixtures: a script with a token, a browser that is logged in, a run that has ended."""

from tests.planner.conftest import api, browser, finished_run

__all__ = ["api", "browser", "finished_run"]
