"""How do tests ask for a page, or for one part of it?"""

import re

from django.http import HttpResponse
from django.test import Client


def text_of(answer: HttpResponse) -> str:
    """Return the page; the token of its forms, which is another one each time, is left out."""
    return re.sub(r'(name="csrfmiddlewaretoken" value)="\w+"', r"\1", answer.content.decode())


def words_of(html: str) -> str:
    """Return the page without the raw values that stand beside its numbers."""
    return re.sub(r"</?data\b[^>]*>", "", html)


def part(browser: Client, address: str, target: str) -> str:
    """Return what htmx gets to replace the element `target`."""
    return text_of(browser.get(address, headers=asking_for(target)))


def asking_for(target: str) -> dict[str, str]:
    """Return the headers that htmx sends."""
    return {"HX-Request": "true", "HX-Target": target}
