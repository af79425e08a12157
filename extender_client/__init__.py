"""HTTP calls to extenders, restricted to allowed hosts."""

from extender_client.client import ExtenderClient, ExtenderError
from extender_client.hosts import AllowedHosts

__all__ = ["AllowedHosts", "ExtenderClient", "ExtenderError"]
