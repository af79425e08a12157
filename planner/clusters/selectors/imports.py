"""Imports by workers."""

from uuid import UUID

from django.db.models import QuerySet

from planner.accounts.models import User
from planner.accounts.selectors.workspaces import visible
from planner.clusters.models import Import
from planning.rows import Problem


def imports(user: User) -> QuerySet[Import]:
    """Return the imports that an account may see, newest first, without their files (1 query)."""
    return visible(Import.objects.select_related("workspace", "owner", "snapshot"), user)


def get_import(user: User, import_id: UUID) -> Import:
    """Return an import, or raise Import.DoesNotExist (1 query)."""
    return imports(user).get(pk=import_id)


def recent_imports(user: User, limit: int = 6) -> QuerySet[Import]:
    """Return the newest imports that are not dry runs (1 query)."""
    return imports(user).filter(is_dry=False)[:limit]


def problems_of(cluster_import: Import) -> list[Problem]:
    """Return the problems found in the files."""
    return [Problem(**found) for found in cluster_import.problems]
