"""The published manifests listed in docs/manifests.md: accepted, or refused at a line with a fix."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import manifests

PAGE = Path(__file__).parents[2] / "docs" / "manifests.md"


@pytest.fixture(scope="module")
def read(shared: Path) -> dict[str, manifests.Reading]:
    folder = shared / "data" / "volcano-yaml"
    files = sorted(folder.glob("**/*.y*ml"))
    assert files
    return {str(path.relative_to(folder)): manifests.read([(path.name, path.read_bytes())]) for path in files}


def test_the_page_lists_the_result_for_every_published_manifest(
    read: dict[str, manifests.Reading],
) -> None:
    output = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert output == list(rows(read)), "\n".join(rows(read))


def test_every_error_has_a_line_and_a_fix(read: dict[str, manifests.Reading]) -> None:
    for name, reading in read.items():
        for problem in reading.problems:
            if problem.severity == "error":
                assert problem.line, name
                assert problem.fix, name


def rows(read: dict[str, manifests.Reading]) -> Iterator[str]:
    """Yield the rows of both tables: sources with counts, then each refused file with its first reason."""
    sources = Counter((name.partition("/")[0], reading.has_errors) for name, reading in read.items())
    for source in sorted({source for source, _ in sources}):
        yield f"| `{source}` | {sources[source, False]} | {sources[source, True]} |"
    for name, reading in sorted(read.items()):
        errors = [problem for problem in reading.problems if problem.severity == "error"]
        for first in errors[:1]:
            message, fix = (" ".join(text.replace("|", r"\|").split()) for text in (first.message, first.fix))
            yield f"| `{name}` | {first.line} | `{first.rule}` | {message} | {fix} |"
