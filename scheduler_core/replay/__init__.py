"""Replays: sessions on a virtual clock, with work that arrives, runs, ends and is evicted.

Every session decides as `scheduler_core.simulate_document` would; between sessions only time passes.
"""

from scheduler_core.replay.calm import may_be_calm
from scheduler_core.replay.engine import Replay, Step, replay_document

__all__ = ["Replay", "Step", "may_be_calm", "replay_document"]
