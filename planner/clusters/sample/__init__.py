"""What does a cluster look like before anybody has imported one? A believable one, the same every time."""

from planner.clusters.sample.document import SAMPLE_NAME, sample_document

__all__ = ["SAMPLE_NAME", "sample_document"]
