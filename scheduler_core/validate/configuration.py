"""The configuration of a scenario as a release reads it, with its problems."""

from __future__ import annotations

from typing import Any, NamedTuple

from scheduler_core.conf import MODELLED_PLUGINS, UNMODELLED_PLUGINS, SchedulerConf, parse_conf
from scheduler_core.errors import ConfError
from scheduler_core.release import Release
from scheduler_core.validate.report import Report


class ReadConf(NamedTuple):
    """A configuration as a release reads it, with its problems.

    Attributes
    ----------
    structure : any
        The configuration in the document.
    conf : SchedulerConf or None
        None if Volcano would reject it.

    """

    structure: Any
    release: Release
    conf: SchedulerConf | None
    report: Report

    @classmethod
    def of(cls, structure: Any, release: Release) -> ReadConf:
        """Read a configuration."""
        report = Report()
        return cls(structure, release, _conf(structure, release, report), report)

    def is_of(self, structure: Any, release: Release) -> bool:
        """Return whether it was read from the same structure by an equal release."""
        return self.structure is structure and self.release == release


def _conf(structure: Any, release: Release, report: Report) -> SchedulerConf | None:
    """Return the configuration, None if Volcano would reject it."""
    place = ((), "scheduler_conf")
    report.set_subject("the configuration", place)
    try:
        conf = parse_conf(structure, release)
    except ConfError as error:
        message = f"is rejected as a whole by Volcano: {error}"
        report.add(
            "conf.rejected", "error", place, message, fix="Volcano would keep its previous configuration"
        )
        return None
    for name in sorted({option.name for option in conf.options()} - set(MODELLED_PLUGINS)):
        if name in UNMODELLED_PLUGINS:
            message = f"uses plugin {name}, which is not modelled: {UNMODELLED_PLUGINS[name]}"
            report.add("conf.not_modelled", "warning", place, message, actual=name)
        else:
            message = f"names plugin {name!r}, which Volcano {conf.release.name} does not have and ignores"
            report.add(
                "conf.unknown_plugin", "warning", place, message, actual=name, fix="check the spelling"
            )
    return conf
