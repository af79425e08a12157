"""Can this text be read as a scheduler configuration?"""

from dataclasses import asdict

import manifests
from planner.rows import Problem


def conf_problems(text: str) -> list[Problem]:
    """Return what is wrong with the form of volcano-scheduler.conf; empty is fine: Volcano's default."""
    if not text.strip():
        return []
    return [Problem(**asdict(found)) for found in manifests.conf_problems(text)]
