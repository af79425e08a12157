"""Questions of real reporters are answered, and docs/answers.md has today's answers."""

from __future__ import annotations

import csv
import re

import pytest

from tests.needs import unavailable
from tests.scheduler_core.answers import ANSWERS, Answer, Run
from tests.scheduler_core.eviction_answers import EVICTIONS
from tests.scheduler_core.placement_answers import PLACEMENTS
from tests.scheduler_core.waiting_answers import WAITING
from tests.shared import ROOT, SHARED

PAGE = ROOT / "docs" / "answers.md"
ALL = (*ANSWERS, *EVICTIONS, *WAITING, *PLACEMENTS)
PLAIN = r"[A-Z][^\n]{60,}\."
ISSUES = "https://github.com/volcano-sh/volcano/issues"


def section(answer: Answer) -> re.Pattern[str]:
    """Return what the page has to say about one situation: between it and the sentences, a plain answer."""
    run = Run(answer.situation())
    situation = " ".join((answer.situation.__doc__ or "").split())
    lines = "\n".join(f"- {sentence}" for sentence in answer.say(run))
    link = f"[#{answer.issue}]({ISSUES}/{answer.issue})"
    head = f"## {answer.question}\n\n{link}: {situation} (`{answer.situation.__name__}`)"
    return re.compile(f"{re.escape(head)}\n\n{PLAIN}\n\n{re.escape(lines)}")


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: str(answer.issue))
def test_the_page_says_what_the_run_says(answer: Answer) -> None:
    sections = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    wanted = section(answer)
    assert any(wanted.fullmatch(text.strip()) for text in sections)


def test_all_but_two_of_the_collected_situations_are_answered() -> None:
    path = SHARED / "data" / "issue-scenarios.csv"
    if not path.is_file():
        unavailable(f"{path} is not there")
    with path.open(encoding="utf-8", newline="") as rows:
        addresses = {int(row["issue"]): row["url"] for row in csv.DictReader(rows)}
    answered = [answer.issue for answer in ALL if answer.issue in addresses]
    assert len(answered) >= 27
    listed = re.findall(rf"^\| \[#(\d+)\]\({ISSUES}/\1\) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(issue) for issue in listed] == list(addresses)
    assert [addresses[issue] for issue in answered] == [f"{ISSUES}/{issue}" for issue in answered]
