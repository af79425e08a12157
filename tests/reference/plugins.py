"""The plugins of the reference engine, by name."""

from __future__ import annotations

from tests.reference.capacity import Capacity
from tests.reference.drf import Drf
from tests.reference.enqueueing import Overcommit, ResourceQuota, Sla
from tests.reference.gang import Gang, Priority
from tests.reference.nodegroup import NodeGroup
from tests.reference.plugin import Plugin
from tests.reference.predicates import Predicates
from tests.reference.proportion import Proportion
from tests.reference.protecting import Cdp, Conformance, Pdb
from tests.reference.scoring import Binpack, NodeOrder
from tests.reference.strategy_fit import ResourceStrategyFit
from tests.reference.tdm import Tdm

PLUGINS: dict[str, type[Plugin]] = {
    "gang": Gang,
    "priority": Priority,
    "conformance": Conformance,
    "cdp": Cdp,
    "pdb": Pdb,
    "tdm": Tdm,
    "drf": Drf,
    "proportion": Proportion,
    "capacity": Capacity,
    "overcommit": Overcommit,
    "resourcequota": ResourceQuota,
    "sla": Sla,
    "predicates": Predicates,
    "nodegroup": NodeGroup,
    "binpack": Binpack,
    "nodeorder": NodeOrder,
    "resource-strategy-fit": ResourceStrategyFit,
}
