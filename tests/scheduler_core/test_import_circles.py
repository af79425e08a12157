"""Does any module of the core import itself by way of others? Imports for types count, too."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


def test_no_module_of_the_core_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("scheduler_core")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
