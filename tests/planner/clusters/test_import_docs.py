"""The page on importing lists every rule of the reader."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RULE = re.compile(r'"((?:file|yaml|json|form|conf|kind)\.[a-z_]+)"')


def test_every_rule_of_the_reader_is_documented() -> None:
    sources = [*(ROOT / "manifests").glob("*.py"), ROOT / "planning" / "importing.py"]
    rules = {rule for source in sources for rule in RULE.findall(source.read_text())} - {"file.name"}
    page = (ROOT / "docs" / "importing.md").read_text()
    assert {rule for rule in rules if f"`{rule}`" not in page} == set()
