"""Content negotiation."""

from collections.abc import Iterable

from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer


class KnownForms(DefaultContentNegotiation):
    """`?format=` or the header Accept; an unsupported format is an invalid parameter."""

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:
        """Return the renderers of a format, or raise ValidationError with the supported formats."""
        found = [renderer for renderer in renderers if renderer.format == format]
        if not found:
            forms = ", ".join(sorted(renderer.format for renderer in renderers))
            raise ValidationError(
                {"format": [f"This call does not answer as {format[:50]!r}. Known: {forms}."]}
            )
        return found
