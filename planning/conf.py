"""Validation of a scheduler configuration's text, and edits of it."""

from dataclasses import asdict
from typing import Any

import manifests
from planning.rows import Problem


def conf_problems(text: str) -> list[Problem]:
    """Return the errors in the form of volcano-scheduler.conf; an empty text is Volcano's default."""
    if not text.strip():
        return []
    return [Problem(**asdict(found)) for found in manifests.conf_problems(text)]


def conf_edited(text: str, operations: Any) -> tuple[str, list[Problem]]:
    """Return a configuration's text after a JSON patch, or the unchanged text and why the patch fails.

    Lines that the patch does not touch are unchanged, byte for byte.
    """
    try:
        return manifests.conf_patched(text, operations), []
    except manifests.Unreadable as unreadable:
        return text, [Problem(**asdict(problem)) for problem in unreadable.problems]
