"""Can this text be read as a scheduler configuration?"""

import manifests
from planner.rows import Problem


def conf_problems(text: str) -> list[Problem]:
    """Return why `text` cannot be read as volcano-scheduler.conf; empty is fine: Volcano's default."""
    if not text.strip():
        return []
    try:
        manifests.parse_conf(text)
    except ValueError as error:
        return [Problem("unreadable_conf", "error", str(error), path="conf", fix="Correct the YAML.")]
    return []
