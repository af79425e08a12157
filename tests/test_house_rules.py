"""House rules for the texts of this repository: hosts, paths, links, versions, pages per plugin."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import plotly.offline
import pytest

from scheduler_core.plugins.registry import OPENERS

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))
# Spelled in pieces, so that this file does not break its own rule.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:" + "work|root|farm" + r")/[\w.]|/tmp/" + "bash_")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def tracked(*patterns: str) -> list[Path]:
    """Return the tracked files that match, as absolute paths."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def texts(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the files that hold text; a picture or a recording has no words to check."""
    for path in paths:
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_make_test_runs_every_test_path() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    command = ["make", "--dry-run", "units", "journeys"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(settings["tool"]["pytest"]["ini_options"]["testpaths"]) <= set(listing.stdout.split())


@pytest.mark.parametrize("lock", REQUIREMENTS, ids=lambda path: path.name)
def test_a_lock_file_names_no_host_and_pins_every_hash(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "--index-url" not in text
    for entry in re.split(r"(?<!\\)\n", text.strip()):
        assert "--hash=sha256:" in entry, entry


def test_the_vendored_plotly_has_the_version_of_plotly_py() -> None:
    bundles = [path for path in tracked("static/vendor/**") if re.match(r"plotly.*\.js$", path.name)]
    assert bundles, "static/vendor holds no plotly bundle"
    for bundle in bundles:
        banner = re.search(r"plotly\.js .*v(\d+\.\d+\.\d+)", bundle.read_text(encoding="utf-8")[:500])
        assert banner, bundle
        assert banner[1] == plotly.offline.get_plotlyjs_version(), bundle


@pytest.mark.parametrize("plugin", sorted(OPENERS))
def test_every_plugin_has_a_documentation_page(plugin: str) -> None:
    page = ROOT / "docs" / "plugins" / f"{plugin}.md"
    assert page.is_file(), f"write {page.relative_to(ROOT)}"


@pytest.mark.parametrize("plugin", sorted(OPENERS))
def test_every_plugin_has_a_module_with_an_opener(plugin: str) -> None:
    assert OPENERS[plugin].__name__ == "open_session"


def test_no_tracked_file_contains_a_machine_path() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path, text in texts(tracked(":!static/vendor"))
        for found in MACHINE_PATH.finditer(text)
    ]
    assert named == []


def test_every_link_in_the_docs_has_a_target() -> None:
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page, text in texts(tracked("*.md", ":!static/vendor"))
        for target in LINK.findall(text)
        if not leads_somewhere(page, target)
    ]
    assert broken == []


def leads_somewhere(page: Path, target: str) -> bool:
    """Return whether a link's file exists and, where it names a heading, has that heading."""
    if "://" in target or target.startswith("mailto:"):
        return True
    name, _, anchor = target.partition("#")
    linked = (page.parent / name).resolve() if name else page
    if not linked.exists():
        return False
    return not anchor or anchor in headings(linked)


def headings(page: Path) -> set[str]:
    """Return the anchors of a Markdown page's headings, as Git hosts make them."""
    lines = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


TEMPLATE = re.compile(r"""["']((?:\w+/)+_?\w+\.html)(?:#\w+)?["']""")
STATIC = re.compile(r"""\{% static ['"]([^'"]+)['"]""")


def test_every_referenced_template_and_static_file_exists() -> None:
    named = [
        (page, folder, name)
        for page, text in texts(tracked("planner/**.py", "templates/**.html"))
        for folder, pattern in (("templates", TEMPLATE), ("static", STATIC))
        for name in pattern.findall(text)
    ]
    assert named
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page, folder, name in named
        if not (ROOT / folder / name).exists()
    ]
    assert missing == []


LINE_OF_A_TEMPLATE = 160


def test_no_line_of_a_template_is_too_long() -> None:
    long = [
        f"{page.relative_to(ROOT)}:{number}: {len(line)} characters"
        for page, text in texts(tracked("templates/**.html"))
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > LINE_OF_A_TEMPLATE
    ]
    assert long == []


def test_only_the_grid_and_the_queue_tree_write_tables() -> None:
    writers = [
        str(page.relative_to(ROOT))
        for page, text in texts(tracked("templates/**.html"))
        if "<table" in text and page.name not in ("_grid.html", "_queue_tree.html")
    ]
    assert writers == [], "draw it by the tag `grid`"


LINES_OF_A_FILE = 300


def test_no_file_of_the_product_is_too_long() -> None:
    packages = (
        "config",
        "extender_client",
        "manifests",
        "planner",
        "planning",
        "queuecast",
        "scheduler_core",
        "traces",
    )
    long = [
        f"{name}: {lines} lines"
        for path, text in texts(tracked(*(f"{package}/**.py" for package in packages)))
        if (lines := len(text.splitlines())) > LINES_OF_A_FILE
        and not (name := str(path.relative_to(ROOT))).startswith("planner/migrations/")
    ]
    assert long == []


def test_cache_keys_are_made_in_one_module() -> None:
    made = re.compile(
        r"\bcache\.(?:get|set|add|delete|get_or_set|incr)\((?!key\b|demand_key\(|preview_key\()"
    )
    found = [
        f"{path.relative_to(ROOT)}: {use[0]}"
        for path, text in texts(tracked("planner/**.py"))
        for use in made.finditer(text)
    ]
    assert found == [], "take the key from planner.clusters.selectors.demand"
