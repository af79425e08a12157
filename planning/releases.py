"""The known releases of Volcano."""

from planning.rows import Problem
from scheduler_core.release import DEFAULT_RELEASE, RELEASES, Release, release_named
from scheduler_core.release import release_of as release_of_document

DEFAULT = DEFAULT_RELEASE.name
"""The release that applies if none is known."""
LONGEST_NAME = 40

__all__ = [
    "DEFAULT",
    "DEFAULT_RELEASE",
    "Release",
    "known_releases",
    "release_named",
    "release_of_document",
    "release_of_name",
    "release_problems",
]


def release_of_name(name: str) -> Release:
    """Return the known release nearest to a version; the default for an invalid text."""
    return release_named(name) or DEFAULT_RELEASE


def known_releases() -> list[str]:
    """Return the names of the known releases, oldest first."""
    return [release.name for release in RELEASES]


def release_problems(name: str, path: str = "release") -> list[Problem]:
    """Return why a text cannot be the release of a scenario; an empty one is valid."""
    if not name or (len(name) <= LONGEST_NAME and release_named(name) is not None):
        return []
    known = ", ".join(known_releases())
    message = "This is not a version of Volcano."
    return [Problem("release.unreadable", "error", message, path=path, fix=f"Choose one of {known}.")]
