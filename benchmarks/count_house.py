"""Prints the sizes of features, files and functions, the figures of docs/decisions/0018."""

import ast
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

PACKAGES = (
    "config",
    "extender_client",
    "manifests",
    "planner",
    "planning",
    "queuecast",
    "scheduler_core",
    "traces",
)
CORE = "scheduler_core/"
LONG = 300


def product_files() -> dict[str, str]:
    """Return the text of each Python file of the product except migrations, by path."""
    listing = subprocess.run(
        ["git", "ls-files", *(f"{package}/**.py" for package in PACKAGES)],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listing.stdout.splitlines() if "/migrations/" not in name]
    return {name: Path(name).read_text() for name in names}


def function_lengths(text: str) -> Iterator[int]:
    """Yield the number of lines of each function, without decorators and docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node, clean=False) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            yield lines


def main() -> None:
    """Print the figures, one per line."""
    files = product_files()
    for where, in_core in (("outside the core", False), ("in the core", True)):
        chosen = {name: text for name, text in files.items() if name.startswith(CORE) == in_core}
        lines = {name: len(text.splitlines()) for name, text in chosen.items()}
        longest = max(lines, key=lambda name: lines[name])
        functions = [length for text in chosen.values() for length in function_lengths(text)]
        print(f"{where}: {len(lines)} files, {sum(lines.values()):,} lines")
        print(f"  above {LONG} lines: {sum(count > LONG for count in lines.values())}")
        print(f"  longest file: {longest}, {lines[longest]} lines")
        print(f"  functions: median {statistics.median(functions):g} lines, longest {max(functions)}")
    folders: dict[str, list[int]] = {}
    for name, text in files.items():
        package, folder, *rest = name.split("/")
        room = f"{package}/{folder}" if package == "planner" and rest else package
        folders.setdefault(room, []).append(len(text.splitlines()))
    for room, counts in sorted(folders.items()):
        print(f"{room}: {len(counts)} files, {sum(counts):,} lines")


if __name__ == "__main__":
    main()
