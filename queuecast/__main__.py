"""`queuecast check CHANGES --against SNAPSHOT --assert RULES`: may this change be merged?"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from queuecast.outcome import Outcome
from queuecast.plans import Refused, changed, read, simulate
from queuecast.reports import FORMS
from queuecast.rules import Compared, judged

KEPT, BROKEN, UNREADABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 every rule holds, 1 one is broken, 2 something cannot be read or simulated."""
    parser = argparse.ArgumentParser(prog="queuecast", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="simulate a change and hold its outcome to rules")
    check.add_argument("changes", nargs="+", type=Path, help="changed objects: queues, scheduler ConfigMap …")
    check.add_argument("--against", nargs="+", type=Path, required=True, metavar="SNAPSHOT")
    check.add_argument("--assert", dest="rules", type=Path, required=True, metavar="RULES")
    check.add_argument("--report", choices=FORMS, default="text", help="the form of the report (text)")
    check.add_argument("--output", type=Path, help="a file for the report; standard output unless given")
    try:
        return _check(parser.parse_args(arguments))
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        return UNREADABLE


def _check(asked: argparse.Namespace) -> int:
    rules = _rules(asked.rules)
    snapshot = read(asked.against)
    plan = changed(snapshot, read(asked.changes))
    outcomes = Compared(Outcome.of(simulate(snapshot)), Outcome.of(simulate(plan)))
    verdicts = judged(rules, outcomes)
    report = FORMS[asked.report](verdicts)
    if asked.output:
        asked.output.write_text(report, encoding="utf-8")
    else:
        sys.stdout.write(report)
    return KEPT if all(verdict.holds for verdict in verdicts) else BROKEN


def _rules(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Refused([f"{path}: {error}"]) from None


if __name__ == "__main__":
    sys.exit(main())
