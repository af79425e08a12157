"""Which module answers for which plugin name?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.conf import Arguments
from scheduler_core.framework.session import Session
from scheduler_core.plugins import (
    binpack,
    capacity,
    cdp,
    conformance,
    drf,
    extender,
    gang,
    nodegroup,
    nodeorder,
    overcommit,
    pdb,
    predicates,
    priority,
    proportion,
    resource_strategy_fit,
    resourcequota,
    sla,
    tdm,
)

OPENERS: Mapping[str, Callable[[Session, Arguments], None]] = {
    module.NAME: module.open_session
    for module in (
        binpack,
        capacity,
        cdp,
        conformance,
        drf,
        extender,
        gang,
        nodegroup,
        nodeorder,
        overcommit,
        pdb,
        predicates,
        priority,
        proportion,
        resource_strategy_fit,
        resourcequota,
        sla,
        tdm,
    )
}
