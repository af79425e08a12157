"""The command line `queuecast`; `queuecast --help` lists the commands."""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import suppress

from queuecast.arguments import parser
from queuecast.backend import Backend
from queuecast.check import check, reported
from queuecast.client import Client
from queuecast.completion import NAMES, script
from queuecast.local import Local
from queuecast.named import names_after
from queuecast.parsing import place_options
from queuecast.plan_commands import plan
from queuecast.problems import Rejected
from queuecast.server import Failure, Unreachable
from queuecast.store import FOLDER
from queuecast.upgrade import upgrade
from scheduler_core.__main__ import until_closed

DONE, WRONG, AWAY, FORBIDDEN, STALE = 0, 2, 3, 4, 5
_CODES = {401: FORBIDDEN, 403: FORBIDDEN, 412: STALE}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == [NAMES]:
        return _names(words[1:])
    args = parser().parse_args(words)
    try:
        return until_closed(lambda: _run(args))
    except Rejected as error:
        return _failed(error, args)


def _run(args: argparse.Namespace) -> int:
    if args.command == "completion":
        sys.stdout.write(script(parser(), args.shell))
        return DONE
    if args.command in ("check", "plan"):
        backend = _backend(args)
        if args.command == "check":
            report, code = check(backend, args)
        else:
            report, code = reported(args.report, lambda: plan(backend, args))
        if args.to:
            args.to.write_text(report, encoding="utf-8")
        else:
            sys.stdout.write(report)
        return code
    if args.command == "upgrade":
        report, code = upgrade(args)
        sys.stdout.write(report)
        return code
    backend = _backend(args)
    output = args.do(backend, args)
    tried = ["Nothing was saved."] if getattr(args, "try_only", False) else []
    for note in dict.fromkeys([*backend.notes, *tried, *output.notes]):
        sys.stderr.write(f"note: {note}\n")
    form = getattr(args, "output", "table")
    answer = output.written(form, getattr(args, "query", ""))
    sys.stderr.write(output.beside(form))
    sys.stdout.write(answer)
    return int(output.code)


def _backend(args: argparse.Namespace) -> Backend:
    dry_run = getattr(args, "try_only", False)
    if hasattr(args, "local"):
        return Local(getattr(args, "folder", FOLDER), dry_run=dry_run)
    where = {name: getattr(args, name, "") for name in ("token", "context")}
    return Client(getattr(args, "server", ""), **where, dry_run=dry_run)


def _names(words: list[str]) -> int:
    """Print completions; errors are not shown while a shell completes a line."""
    args, rest = place_options().parse_known_args(words)
    with suppress(Rejected):
        sys.stdout.write("".join(f"{name}\n" for name in names_after(parser(), rest, _backend(args))))
    return DONE


def _failed(error: Rejected, args: argparse.Namespace) -> int:
    """Print why nothing was done; for programs in the shape of the API."""
    if getattr(args, "output", "table") in ("json", "yaml"):
        sys.stderr.write(json.dumps(error.body, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stderr.write(f"{error}\n")
    if isinstance(error, Unreachable):
        return AWAY
    return _CODES.get(error.status, WRONG) if isinstance(error, Failure) else WRONG


if __name__ == "__main__":
    sys.exit(main())
