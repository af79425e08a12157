"""Validation of labels: name, note and tags of scenarios and runs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planning.rows import Problem

LONGEST_NAME, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 253, 4000, 40, 10
_TAG = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")


def tags_of(text: str) -> list[str]:
    """Return the tags in a text, separated by commas or spaces, sorted and without duplicates.

    >>> tags_of("Prod, review prod")
    ['prod', 'review']
    """
    return sorted(set(text.lower().replace(",", " ").split()))


def label_problems(labels: Mapping[str, Any], *, name_required: bool) -> list[Problem]:
    """Return the problems of these labels: `name`, `note` and `tags`, each only if given."""
    found = []
    name = labels.get("name")
    if name is not None and name_required and not name.strip():
        found.append(_problem("name_missing", "name", "The name is empty.", "Write a name.", name))
    if name is not None and len(name) > LONGEST_NAME:
        message = f"The name has {len(name)} characters; at most {LONGEST_NAME} are allowed."
        found.append(_problem("name_long", "name", message, "Shorten it.", name))
    note = labels.get("note") or ""
    if len(note) > LONGEST_NOTE:
        message = f"The note has {len(note):,} characters; at most {LONGEST_NOTE:,} are allowed."
        found.append(_problem("note_long", "note", message, "Shorten it.", None))
    return [*found, *_tag_problems(labels.get("tags") or ())]


def _tag_problems(tags: Sequence[str]) -> list[Problem]:
    found = [
        _problem(
            "tag_bad",
            "tags",
            f"{tag!r} is not a valid tag.",
            f"Use up to {LONGEST_TAG} lower-case letters, digits, '.', '_' and '-'; "
            "begin and end with a letter or digit.",
            tag,
        )
        for tag in tags
        if len(tag) > LONGEST_TAG or not _TAG.fullmatch(tag)
    ]
    if len(tags) > MOST_TAGS:
        message = f"There are {len(tags)} tags; at most {MOST_TAGS} are allowed."
        found.append(_problem("tags_many", "tags", message, "Remove some.", None))
    return found


def _problem(rule: str, field: str, message: str, fix: str, actual: Any) -> Problem:
    return Problem(f"labels.{rule}", "error", message, path=field, field=field, actual=actual, fix=fix)
