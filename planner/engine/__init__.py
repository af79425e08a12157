"""The only room that speaks to the core and to the reader of manifests: translation and execution."""

from planner.engine.version import ENGINE_VERSION

__all__ = ["ENGINE_VERSION"]
