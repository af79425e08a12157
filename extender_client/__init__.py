"""How is an extender called over HTTP, and which hosts may be called at all?"""

from extender_client.client import ExtenderClient, ExtenderError
from extender_client.hosts import AllowedHosts

__all__ = ["AllowedHosts", "ExtenderClient", "ExtenderError"]
