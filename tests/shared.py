"""The folder of inputs outside the repository."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("QUEUECAST_SHARED", ROOT.parent / "shared"))
