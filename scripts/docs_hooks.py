"""Hooks of the documentation site for pages and links outside docs/."""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "readme.md",
    "SECURITY.md": "security.md",
}
"""Pages at the top of the repository, and their names on the site."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the top of the repository."""
    for name, on_site in OUTSIDE.items():
        files.append(File.generated(config, on_site, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, **_given: Any) -> str:
    """Return the text with links to pages of the site; what is not on it keeps its words."""
    source = Path(str(page.file.abs_src_path)).resolve()
    here = Path(page.file.src_uri)
    return LINK.sub(lambda link: _on_site(link, source.parent, here.parent), markdown)


def anchor(heading: str, separator: str) -> str:
    """Return the anchor of a heading as Git hosts make it, which the house rules check."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def _on_site(link: re.Match[str], folder: Path, here: Path) -> str:
    mark, words, target = link.groups()
    name, _, fragment = target.partition("#")
    if "://" in target or not name or target.startswith("mailto:"):
        return link[0]
    file = (folder / name).resolve()
    if file.is_relative_to(ROOT / "docs") and file.is_file():
        found = file.relative_to(ROOT / "docs")
    elif file.is_relative_to(ROOT) and str(file.relative_to(ROOT)) in OUTSIDE:
        found = Path(OUTSIDE[str(file.relative_to(ROOT))])
    elif (file / "README.md").is_file() and file.is_relative_to(ROOT / "docs"):
        found = (file / "README.md").relative_to(ROOT / "docs")
    else:
        return words if file.exists() else link[0]
    address = Path(os.path.relpath(found, here)).as_posix()
    return f"{mark}[{words}]({address}{'#' + fragment if fragment else ''})"
