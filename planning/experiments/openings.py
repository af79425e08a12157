"""Variants of a cluster that open the same session, so that one simulation serves all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from planning.experiments.levels import Setting
from planning.experiments.settings import ActionsSetting, ArgumentSetting, QueueSetting
from planning.experiments.space import Combination
from scheduler_core.conf import parse_conf
from scheduler_core.demand import Demand, demand_of, queues_at_open
from scheduler_core.errors import InputError
from scheduler_core.release import release_of

Json = Mapping[str, Any]
_WEIGHT = "weight"


class Openings:
    """The key of variants with equal sessions in a grid, if it is smaller than their settings.

    Weights are read only by proportion, when a session opens, and by extenders. Two variants of one session
    each that differ in weights alone and open with the same accounts therefore decide alike.

    Parameters
    ----------
    document : mapping
        The unchanged cluster, its configuration a structure.
    settings : sequence of Setting
        The settings of the grid.

    """

    def __init__(self, document: Json, settings: Sequence[Setting]) -> None:
        self.document, self.settings = document, settings

    def key(self, combination: Combination, parts: Json) -> str:
        """Return the key that a variant shares with those that decide alike; empty if unknown.

        `parts` are the lists of the document that differ at the combination.
        """
        if not self._may_be_alike:
            return ""
        document = {**self.document, **parts}
        opened = queues_at_open(self._demand, document["queues"], document.get("scheduler_conf"))
        if "error" in opened:
            return ""
        accounts = {**opened, "queues": [{**one, _WEIGHT: None} for one in opened.get("queues") or ()]}
        others = [
            level
            for level, setting in zip(combination, self.settings, strict=True)
            if not _is_weight(setting)
        ]
        return json.dumps([others, accounts], sort_keys=True)

    @cached_property
    def _may_be_alike(self) -> bool:
        """Return whether weights move, jobs and nodes stay, and nothing else reads a weight."""
        if self.document.get("cycles", 1) != 1 or not any(map(_is_weight, self.settings)):
            return False
        known = (QueueSetting, ActionsSetting, ArgumentSetting)
        return all(isinstance(one, known) for one in self.settings) and self._is_read_once

    @cached_property
    def _is_read_once(self) -> bool:
        try:
            conf = parse_conf(self.document.get("scheduler_conf"), release_of(self.document))
            return conf.first_option("extender") is None and bool(self._demand.queues)
        except InputError:
            return False

    @cached_property
    def _demand(self) -> Demand:
        return demand_of(self.document)


def _is_weight(setting: Setting) -> bool:
    return isinstance(setting, QueueSetting) and setting.field == _WEIGHT
