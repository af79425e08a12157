"""The core has no import cycles, not even for type annotations."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp


def cycle_in(graph: grimp.ImportGraph) -> str:
    """Return an import cycle, empty if there is none."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_import_cycle_is_reported() -> None:
    graph = grimp.ImportGraph()
    for module, imported in (("world", "jobs"), ("jobs", "rate"), ("jobs", "world")):
        graph.add_import(importer=module, imported=imported)
    assert cycle_in(graph) in ("world imports jobs imports world", "jobs imports world imports jobs")


def test_core_has_no_import_cycles_even_for_type_annotations() -> None:
    assert cycle_in(grimp.build_graph("scheduler_core")) == ""
