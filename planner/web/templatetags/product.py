"""Which version of the product shows this page?"""

from django import template

from config.version import VERSION

register = template.Library()


@register.simple_tag
def version() -> str:
    """Return the version, as the changelog names it."""
    return VERSION
