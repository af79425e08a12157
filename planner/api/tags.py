"""Entity tags: the header If-Match of edits, and the text of a tag."""

from rest_framework.request import Request

from planner.api.errors import PreconditionRequired


def if_match(request: Request) -> str:
    """Return the header ``If-Match`` as it was sent; raise PreconditionRequired without one."""
    tag = request.headers.get("If-Match")
    if tag is None:
        raise PreconditionRequired
    return tag


def tag_text(tag: str) -> str:
    """Return the text of a tag, with or without quotes, strong or weakened by a compressing proxy.

    >>> tag_text(' W/"3" '), tag_text("3")
    ('3', '3')
    """
    return tag.strip().removeprefix("W/").strip('"')
