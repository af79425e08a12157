"""The version of the product."""

from django import template

from config.version import VERSION

register = template.Library()


@register.simple_tag
def version() -> str:
    """Return the version, as in the changelog."""
    return VERSION
