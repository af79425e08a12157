"""Has a run or an import moved on since its page last asked?"""

from planner.work.models import Work

UNCHANGED = 204


def seen(work: Work) -> str:
    """Return what a poll remembers, to ask whether it changed."""
    return f"{work.state}-{work.progress:.3f}-{work.doing}-{work.cancel_requested:d}"
