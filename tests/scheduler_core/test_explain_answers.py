"""Questions from Volcano's issues are answered, and docs/answers.md has the current answers."""

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
    """Return the pattern of a situation's section: question, plain answer, and the explained sentences."""
    run = Run(answer.situation())
    situation = " ".join((answer.situation.__doc__ or "").split())
    lines = "\n".join(f"- {sentence}" for sentence in answer.say(run))
    link = f"[#{answer.issue}]({ISSUES}/{answer.issue})"
    head = f"## {answer.question}\n\n{link}: {situation} (`{answer.situation.__name__}`)"
    return re.compile(f"{re.escape(head)}\n\n{PLAIN}\n\n{re.escape(lines)}")


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: str(answer.issue))
def test_answers_page_matches_the_simulated_answers(answer: Answer) -> None:
    sections = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    wanted = section(answer)
    assert any(wanted.fullmatch(text.strip()) for text in sections)


def test_collected_issues_are_answered_except_two() -> None:
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
