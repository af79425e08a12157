"""May this change be merged? A plan is held to rules."""

import argparse
from pathlib import Path

import yaml

from queuecast.outcome import Outcome
from queuecast.plans import Refused, changed, read, simulate
from queuecast.reports import FORMS, LOOPS, NOTES
from queuecast.rules import Compared, judged

KEPT, BROKEN = 0, 1


def check(asked: argparse.Namespace) -> tuple[str, int]:
    """Return the report and the exit code: 0 every rule holds, 1 one is broken."""
    rules = _rules(asked.rules)
    snapshot = read(asked.against)
    plan = changed(snapshot, read(asked.changes))
    outcomes = Compared(Outcome.of(simulate(snapshot)), Outcome.of(simulate(plan)))
    verdicts = judged(rules, outcomes)
    said = {LOOPS: outcomes.after.loops, NOTES: outcomes.after.notes}
    return FORMS[asked.report](verdicts, said), KEPT if all(verdict.holds for verdict in verdicts) else BROKEN


def _rules(path: Path) -> object:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Refused([f"{path}: {error}"]) from None
