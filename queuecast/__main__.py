"""What would Volcano decide? `queuecast --help` lists the commands."""

import argparse
import sys
from collections.abc import Sequence

from queuecast.arguments import parser
from queuecast.check import check
from queuecast.client import Client
from queuecast.completion import script
from queuecast.desk import Desk
from queuecast.local import FOLDER, Local
from queuecast.plans import Refused
from queuecast.server import Failure, Unreachable
from queuecast.upgrade import upgrade
from scheduler_core.__main__ import until_closed

DONE, WRONG, AWAY, FORBIDDEN, STALE = 0, 2, 3, 4, 5
_CODES = {401: FORBIDDEN, 403: FORBIDDEN, 412: STALE}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    asked = parser().parse_args(arguments)
    try:
        return until_closed(lambda: _run(asked))
    except Refused as refused:
        return _failed(refused, WRONG)
    except Failure as failure:
        return _failed(failure, _CODES.get(failure.status, WRONG))
    except Unreachable as away:
        return _failed(away, AWAY)


def _run(asked: argparse.Namespace) -> int:
    if asked.command == "completion":
        sys.stdout.write(script(parser(), asked.shell))
        return DONE
    if asked.command == "check":
        report, code = check(asked)
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


def _failed(error: Exception, code: int) -> int:
    sys.stderr.write(f"{error}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
