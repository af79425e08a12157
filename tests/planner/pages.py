"""Requests for pages, or for one part of a page."""

import re

from django.http import HttpResponse
from django.test import Client

BLOCKS = (
    "html|head|title|meta|link|script|noscript|body|header|main|nav|section|div|p|h[1-4]|br|ul|ol|li|dl|dt|dd"
    "|table|thead|tbody|tr|th|td|form|fieldset|legend|select|option|details|summary|figure|figcaption"
    "|svg|path|rect|text"
)
"""Block elements: white space beside their tags is not rendered."""


def text_of(answer: HttpResponse) -> str:
    """Return the page as shown, without the CSRF token of its forms, which differs on each request."""
    return as_shown(re.sub(r'(name="csrfmiddlewaretoken" value)="\w+"', r"\1", answer.content.decode()))


def as_shown(html: str) -> str:
    """Return HTML with collapsed white space: one space, and none at the edges of blocks; without `<wbr>`."""
    parts = re.split(r"(<(pre|textarea|script)\b.*?</\2>)", html.replace("<wbr>", ""), flags=re.DOTALL)
    return "".join(
        _squeezed(parts[at]) + (parts[at + 1] if at + 1 < len(parts) else "")
        for at in range(0, len(parts), 3)
    )


def _squeezed(html: str) -> str:
    one_space = re.sub(r"\s+", " ", html)
    no_edges = re.sub(r"(<(?:a|button) [^>]*\bbtn\b[^>]*>) ?([^<]*?) ?(?=</)", r"\1\2", one_space)
    return re.sub(rf" ?(</?(?:{BLOCKS})\b[^>]*>) ?", r"\1", no_edges)


def visible_text(html: str) -> str:
    """Return the page without the raw values beside its numbers."""
    return re.sub(r"</?data\b[^>]*>", "", html)


def fragment(browser: Client, address: str, target: str) -> str:
    """Return the fragment that htmx gets to replace the element `target`."""
    return text_of(browser.get(address, headers=htmx_headers(target)))


def htmx_headers(target: str) -> dict[str, str]:
    """Return the headers that htmx sends."""
    return {"HX-Request": "true", "HX-Target": target}
