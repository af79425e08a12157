"""Detection of texts that overlap, are cut off, or make the page wider than its window.

Measured in the browser: the bounding boxes of every visible piece of text, clipped as the page clips them.
"""

from pathlib import Path

from playwright.sync_api import Page

WIDTHS = (390, 768, 1440, 2560)
SLACK = 2
"""Tolerance in pixels, since fonts round."""
_ILLEGIBLE = Path(__file__).with_name("illegible.js").read_text()


def illegible(page: Page) -> list[str]:
    """Return descriptions of the unreadable texts of a page."""
    found: list[str] = page.evaluate(_ILLEGIBLE, SLACK)
    return found
