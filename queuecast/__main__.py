"""The command line `queuecast`; `queuecast --help` lists the commands."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from planning.collecting import collected_seldom
from queuecast.arguments import parser
from queuecast.completion import NAMES, script
from queuecast.named import names_after
from queuecast.parsing import backend_of, place_options
from queuecast.problems import Refused, Rejected
from queuecast.server import PASSING, Failure, Unreachable

DONE, WRONG, AWAY, FORBIDDEN, STALE = 0, 2, 3, 4, 5
CLOSED = 141
"""The exit code that a shell reports for a program killed by SIGPIPE."""
_CODES: dict[int, int] = {401: FORBIDDEN, 403: FORBIDDEN, 412: STALE, **dict.fromkeys(PASSING, AWAY)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == [NAMES]:
        return _names(words[1:])
    args = parser(words).parse_args(words)
    try:
        with collected_seldom():
            status = _run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except Rejected as error:
        return _failed(error, args)
    except OSError as error:
        if error.filename is None:
            raise
        return _failed(Refused(f"{error.filename}: {error.strerror}"), args)


def _run(args: argparse.Namespace) -> int:
    if args.command == "completion":
        sys.stdout.write(script(parser(), args.shell))
        return DONE
    if hasattr(args, "report_of"):
        report, code = args.report_of(args)
        if to := getattr(args, "to", None):
            to.write_text(report, encoding="utf-8")
        else:
            sys.stdout.write(report)
        return int(code)
    backend = backend_of(args)
    output = args.do(backend, args)
    tried = ["Nothing was saved."] if getattr(args, "try_only", False) else []
    for note in dict.fromkeys([*backend.notes, *tried, *output.notes]):
        sys.stderr.write(f"note: {note}\n")
    form = getattr(args, "output", "table")
    answer = output.written(form, getattr(args, "query", ""))
    sys.stderr.write(output.beside(form))
    sys.stdout.write(answer)
    return int(output.code)


def _names(words: list[str]) -> int:
    """Print completions; errors are not shown while a shell completes a line."""
    args, rest = place_options().parse_known_args(words)
    with suppress(Rejected):
        sys.stdout.write("".join(f"{name}\n" for name in names_after(parser(rest), rest, backend_of(args))))
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
