"""The report of an upgrade of Volcano for a cluster."""

import argparse
import json
from typing import Any

from queuecast.core import faults
from queuecast.plans import read
from queuecast.problems import Refused, refusal
from scheduler_core import prepare
from scheduler_core.release import RELEASES, Release, release_named, release_of
from scheduler_core.upgrade import (
    Impact,
    impact_data,
    impact_markdown,
    impact_notes,
    replay_impact,
    upgrade_impact,
)

SAME, DIFFERENT = 0, 1


def upgrade(args: argparse.Namespace) -> tuple[str, int]:
    """Return the report of an upgrade, and 1 with `--exit-code` when anything differs."""
    document = read(args.files)
    if wrong := faults(document):
        raise refusal(wrong)
    old = _release(args.old) if args.old else release_of(document)
    impact = _impact(document, old, _release(args.new))
    name = args.files[0].name.partition(".")[0]
    notes = impact_notes(impact.old, impact.new, args.old or document.get("release") or old.name, args.new)
    if args.output == "json":
        report = json.dumps(impact_data(impact, notes), ensure_ascii=False, indent=2) + "\n"
    else:
        report = impact_markdown(impact, name, notes)
    return report, DIFFERENT if args.exit_code and not impact.is_empty else SAME


def _impact(document: dict[str, Any], old: Release, new: Release) -> Impact:
    if "replay" in document:
        return replay_impact(document, old, new)
    return upgrade_impact(prepare(document), old, new)


def _release(text: str) -> Release:
    found = release_named(text)
    if found is None:
        known = ", ".join(release.name for release in RELEASES)
        raise Refused(f"{text!r} is not a version of Volcano; known releases: {known}.")
    return found
