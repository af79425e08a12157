"""Commands that log in to servers and select stored log-ins."""

import argparse
import getpass
import sys

from queuecast.backend import Backend
from queuecast.client import Client
from queuecast.contexts import Context, Contexts, config_path, context_name
from queuecast.problems import Refused
from queuecast.shown import Output, Table


def login(backend: Backend, args: argparse.Namespace) -> Output:
    """Check a token with a server and store both as a context, readable by you only."""
    server = args.address.rstrip("/")
    text = getattr(args, "token", "") or _token(server)
    workspaces = Client(server, text).workspaces()
    name = args.name or context_name(server)
    Contexts.read().with_one(name, Context(server, text)).write()
    roles = ", ".join(f"{one['name']} ({one['role']})" for one in workspaces) or "none"
    return Output(
        {"context": name, "server": server, "workspaces": workspaces},
        [f"Logged in to {server} as context {name}, stored in {config_path()}. Workspaces: {roles}."],
    )


def context_list(backend: Backend, args: argparse.Namespace) -> Output:
    """List the stored contexts; tokens are not shown."""
    held = Contexts.read()
    rows = [
        {"name": name, "server": one.server, "current": name == held.current}
        for name, one in sorted(held.by_name.items())
    ]
    table = Table(
        ("CURRENT", "NAME", "SERVER"),
        [("*" if row["current"] else "", row["name"], row["server"]) for row in rows],
        empty="No context yet: queuecast login URL",
    )
    return Output(rows, [table])


def context_use(backend: Backend, args: argparse.Namespace) -> Output:
    """Make a stored context the current one."""
    Contexts.read().using(args.name).write()
    return Output({"current": args.name}, [f"{args.name} is the current context."])


def context_remove(backend: Backend, args: argparse.Namespace) -> Output:
    """Remove a stored context and its token; the token remains valid until it is revoked or expires."""
    Contexts.read().without(args.name).write()
    return Output({"removed": args.name}, [f"{args.name} was removed."])


def _token(server: str) -> str:
    """Return the token that the user types, or that standard input contains."""
    asks = sys.stdin.isatty()
    text = getpass.getpass(f"API token of {server}: ") if asks else sys.stdin.readline()
    if not text.strip():
        raise Refused("No token: type it, or write it to standard input.")
    return text.strip()
