"""What would Volcano decide? `queuecast --help` lists the commands."""

import argparse
import json
import sys
from collections.abc import Sequence

from queuecast.arguments import parser
from queuecast.check import check, reported
from queuecast.client import Client
from queuecast.completion import script
from queuecast.desk import Desk
from queuecast.local import Local
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
    asked = parser().parse_args(arguments)
    try:
        return until_closed(lambda: _run(asked))
    except Rejected as error:
        return _failed(error, asked)


def _run(asked: argparse.Namespace) -> int:
    if asked.command == "completion":
        sys.stdout.write(script(parser(), asked.shell))
        return DONE
    if asked.command in ("check", "plan"):
        desk = _desk(asked)
        if asked.command == "check":
            report, code = check(desk, asked)
        else:
            report, code = reported(asked.report, lambda: plan(desk, asked))
        if asked.to:
            asked.to.write_text(report, encoding="utf-8")
        else:
            sys.stdout.write(report)
        return code
    if asked.command == "upgrade":
        report, code = upgrade(asked)
        sys.stdout.write(report)
        return code
    told = asked.do(_desk(asked), asked)
    for note in dict.fromkeys(told.notes):
        sys.stderr.write(f"note: {note}\n")
    sys.stdout.write(told.written(getattr(asked, "output", "table")))
    return int(told.code)


def _desk(asked: argparse.Namespace) -> Desk:
    if hasattr(asked, "local"):
        return Local(getattr(asked, "folder", FOLDER))
    return Client(getattr(asked, "server", ""), getattr(asked, "token", ""))


def _failed(error: Rejected, asked: argparse.Namespace) -> int:
    """Say why nothing was done, in the shape of the API where programs read it."""
    if getattr(asked, "output", "table") in ("json", "yaml"):
        sys.stderr.write(json.dumps(error.body, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stderr.write(f"{error}\n")
    if isinstance(error, Unreachable):
        return AWAY
    return _CODES.get(error.status, WRONG) if isinstance(error, Failure) else WRONG


if __name__ == "__main__":
    sys.exit(main())
