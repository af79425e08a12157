"""Does any module of the core import itself by way of others?"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp

DECIDING = ("model", "framework", "victims", "actions", "plugins")


def circle_in(graph: grimp.ImportGraph, modules: list[str]) -> str:
    """Return a circle of imports among some modules, empty when there is none."""
    imports = {module: graph.find_modules_directly_imported_by(module) & {*modules} for module in modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_no_module_of_the_core_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("scheduler_core", exclude_type_checking_imports=True)
    assert circle_in(graph, sorted(graph.modules)) == ""


def test_modules_that_decide_do_so_not_even_for_a_type() -> None:
    graph = grimp.build_graph("scheduler_core")
    packages = tuple([f"scheduler_core.{package}" for package in DECIDING])
    assert circle_in(graph, [module for module in sorted(graph.modules) if module.startswith(packages)]) == ""
