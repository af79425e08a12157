"""Options that all commands share, the backend that they name, and helpers that add commands."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from queuecast.backend import Backend
from queuecast.client import Client
from queuecast.contexts import HERE
from queuecast.shown import FORMS, Output
from queuecast.store import FOLDER

Groups: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Command = Callable[[Backend, argparse.Namespace], Output]


def shared_options() -> argparse.ArgumentParser:
    """Return the options that may come before or after every command."""
    options = place_options()
    options.add_argument("--output", "-o", choices=FORMS, help="output format (table)")
    options.add_argument("--query", metavar="JMESPATH", help="select a part of the data by JMESPath")
    return options


def place_options() -> argparse.ArgumentParser:
    """Return the options for where scenarios are stored."""
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--server", metavar="URL", help=f"server address ($QUEUECAST_URL, default {HERE})")
    options.add_argument("--token", help="API token ($QUEUECAST_TOKEN)")
    options.add_argument("--context", metavar="NAME", help="a stored login ($QUEUECAST_CONTEXT)")
    options.add_argument("--local", action="store_true", help="work on files, without a server")
    options.add_argument("--folder", type=Path, help=f"folder of --local ({FOLDER})")
    return options


def backend_of(args: argparse.Namespace) -> Backend:
    """Return a server, or with `--local` a folder."""
    dry_run = getattr(args, "try_only", False)
    if hasattr(args, "local"):
        from queuecast.local import Local  # with the core

        return Local(getattr(args, "folder", FOLDER), dry_run=dry_run)
    where = {name: getattr(args, name, "") for name in ("token", "context")}
    return Client(getattr(args, "server", ""), **where, dry_run=dry_run)


def add_command(groups: Groups, name: str, do: Command, *, edits: bool = False) -> argparse.ArgumentParser:
    """Add a command that returns data and tables; edits have `--dry-run`."""
    message = (do.__doc__ or "").strip().partition("\n")[0]
    added = groups.add_parser(name, help=message, description=message, parents=[shared_options()])
    added.set_defaults(do=do)
    if edits:
        added.add_argument(
            "--dry-run", dest="try_only", action="store_true", help="check and report as usual, save nothing"
        )
    return added


def add_group(groups: Groups, name: str, message: str) -> Groups:
    """Add a word that is followed by commands."""
    added = groups.add_parser(name, help=message, description=message)
    return added.add_subparsers(dest=f"{name}_command", required=True, metavar="COMMAND")
