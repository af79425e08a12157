"""Which revision did this edit see?"""

import re

from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from planner.api.errors import PreconditionRequired

# A proxy that compresses answers makes a tag weak; what it names is still the revision.
_TAG = re.compile(r'\s*(?:W/)?(?:"(\d{1,9})"|(\d{1,9}))\s*', re.ASCII)


def etag(revision: int) -> str:
    """Return the ETag header of a scenario's revision."""
    return f'"{revision}"'


def seen_revision(request: Request) -> int:
    """Return the revision that ``If-Match`` names, with or without quotes."""
    tag = request.headers.get("If-Match")
    if tag is None:
        raise PreconditionRequired
    named = _TAG.fullmatch(tag)
    if named is None:
        raise ParseError(f"If-Match is not a revision: {tag!r}. Send the ETag of the last response.")
    return int(named[1] or named[2])
