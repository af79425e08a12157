"""ETag and If-Match of a scenario's revision."""

import re

from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from planner.api.schema import REVISION
from planner.api.tags import if_match, tag_text

_TAG = re.compile(REVISION)


def etag(revision: int) -> str:
    """Return the ETag header of a scenario's revision."""
    return f'"{revision}"'


def seen_revision(request: Request) -> int:
    """Return the revision in ``If-Match``, with or without quotes."""
    tag = if_match(request)
    if not _TAG.fullmatch(tag):
        raise ParseError(f"If-Match is not a revision: {tag!r}. Send the ETag of the last response.")
    return int(tag_text(tag))
