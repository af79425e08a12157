"""Which workspace does a caller work in?"""

from planner.models import Workspace


def default_workspace() -> Workspace:
    """Return the workspace that the first migration made (1 query)."""
    return Workspace.objects.get(name=Workspace.DEFAULT)
