"""An import, an edit and a run pass no more files than documented."""

import re
from pathlib import Path

import pytest
from django.test import Client

from tests.planner import paths

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "0018-a-house-by-feature.md"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", paths.FLOWS)
def test_a_flow_passes_no_more_files_than_documented(browser: Client, name: str) -> None:
    modules = paths.modules_of(browser, name)
    path = paths.path_of(modules)
    row = re.search(rf"\| {name} \|.*\| (\d+) \| (\d+) \| (\d+) \|\n", PAGE.read_text())
    assert row is not None, f"| {name} | … | {path.files} | {path.rooms} | {path.returns} |"
    assert all(passed <= int(most) for passed, most in zip(path, row.groups(), strict=True)), modules
