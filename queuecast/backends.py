"""The backend that the options of a command name."""

import argparse

from queuecast.backend import Backend
from queuecast.client import Client
from queuecast.store import FOLDER


def backend_of(args: argparse.Namespace) -> Backend:
    """Return a server, or with `--local` a folder."""
    dry_run = getattr(args, "try_only", False)
    if hasattr(args, "local"):
        from queuecast.local import Local  # with the core

        return Local(getattr(args, "folder", FOLDER), dry_run=dry_run)
    where = {name: getattr(args, name, "") for name in ("token", "context")}
    return Client(getattr(args, "server", ""), **where, dry_run=dry_run)
