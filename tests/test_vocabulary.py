"""Texts for readers use the field's words, and no banned phrases."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vocabulary import (
    ROOT,
    Found,
    banned_phrases,
    banned_words_in,
    in_document,
    in_module,
    in_script,
    in_template,
    names_in,
)

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md")
MODULES = (
    "planner",
    "planning",
    "queuecast",
    "manifests",
    "scheduler_core",
    "extender_client",
    "traces",
    "config",
)
SHOWN_DOCSTRINGS = re.compile(r"planner/(?:\w+/)?api(?:/|\.py$)|queuecast/(?:queue_)?commands\.py$")
"""Where the schema or the help of the command line shows docstrings."""


def read(kind: str) -> Iterator[tuple[str, list[Found]]]:
    """Yield the files of a kind with their texts."""
    if kind == "templates":
        for path in sorted((ROOT / "templates").rglob("*.html")):
            yield _name(path), list(in_template(path.read_text(encoding="utf-8")))
    elif kind == "scripts":
        for path in sorted((ROOT / "static" / "js").glob("*.js")):
            yield _name(path), list(in_script(path.read_text(encoding="utf-8")))
    elif kind == "documents":
        for path in sorted(path for pattern in DOCUMENTS for path in ROOT.glob(pattern)):
            yield _name(path), list(in_document(path.read_text(encoding="utf-8")))
    else:
        for path in sorted((ROOT / kind).rglob("*.py")):
            if "migrations" not in path.parts:
                shown = SHOWN_DOCSTRINGS.match(_name(path)) is not None
                yield _name(path), list(in_module(path.read_text(encoding="utf-8"), docstrings=shown))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("kind", ["templates", "scripts", "documents", *MODULES])
def test_no_text_contains_a_banned_phrase(kind: str) -> None:
    found = [
        f"{name}:{line}: {phrase!r}; better: {better}"
        for name, texts in read(kind)
        for line, text in texts
        for phrase, better in banned_phrases(text)
    ]
    assert found == [], "\n".join(found)


def test_no_name_of_the_core_contains_a_banned_word() -> None:
    found = [
        f"{_name(path)}:{line}: {name}; better: {better}"
        for path in sorted((ROOT / "scheduler_core").rglob("*.py"))
        for line, name in names_in(path.read_text(encoding="utf-8"))
        for better in banned_words_in(name)
    ]
    assert found == [], "\n".join(found)


def test_names_are_checked_word_by_word() -> None:
    module = "class ToldJob:\n    def tell_all(self, initiator): self.mirror_of = retold = 1\n"
    riddles = [name for _, name in names_in(module) if list(banned_words_in(name))]
    assert sorted(riddles) == ["ToldJob", "initiator", "mirror_of", "tell_all"]


@pytest.mark.parametrize(
    "riddle",
    [
        "the jobs were let in before", "34 pods let go", "told by the plugin", "no running pod had to go",
        "tried in vain", "3 errors to mend", "a text stands where an object belongs", "the job for whom",
        "what a queue asks for", "taken away", "jobs that come off differently", "1 jobs wait",
    ],
)  # fmt: skip
def test_phrases_found_in_reviews_are_banned(riddle: str) -> None:
    assert list(banned_phrases(riddle))


@pytest.mark.parametrize(
    "plain",
    [
        "the job is enqueued", "no evictions", "the queue is above its deserved amount", "11 jobs wait",
        "pods may be evicted", "there is no such queue", "the standard allows it", "the pod is pipelined",
        "0/1 nodes are unavailable",
    ],
)  # fmt: skip
def test_plain_phrases_are_accepted(plain: str) -> None:
    assert not list(banned_phrases(plain))


def test_templates_are_checked_without_their_code() -> None:
    page = '<p title="told">{% if told %}{{ told }}{% endif %}plain</p>'
    assert [text.strip() for _, text in in_template(page)] == ["plain", "told"]


def test_modules_are_checked_without_names_and_keys() -> None:
    module = 'told = {"told": 1}\nsays = f"{told} was told"\n"a silent docstring told"\n'
    assert [text for _, text in in_module(module, docstrings=False)] == [" …  was told"]
