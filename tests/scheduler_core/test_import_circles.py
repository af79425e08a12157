"""No module of the core imports itself through others, not even for a type."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def circle_in(graph: grimp.ImportGraph) -> str:
    """Return a circle of imports, empty when there is none."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_a_circle_is_named() -> None:
    graph = grimp.ImportGraph()
    for module, imported in (("world", "jobs"), ("jobs", "rate"), ("jobs", "world")):
        graph.add_import(importer=module, imported=imported)
    assert circle_in(graph) in ("world imports jobs imports world", "jobs imports world imports jobs")


def test_no_module_of_the_core_imports_itself_by_way_of_others_not_even_for_a_type() -> None:
    assert circle_in(grimp.build_graph("scheduler_core")) == ""
