"""The sample cluster: believable, and always the same."""

from planner.clusters.sample.document import SAMPLE_NAME, sample_document

__all__ = ["SAMPLE_NAME", "sample_document"]
