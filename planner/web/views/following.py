"""Polls that find out whether a run or an import has changed."""

from planner.work.models import Work

UNCHANGED = 204


def seen(work: Work) -> str:
    """Return the state that a poll sends back, to find out whether anything changed."""
    return f"{work.state}-{work.progress:.3f}-{work.doing}-{work.cancel_requested:d}"
