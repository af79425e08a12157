"""Where the node constraints of new pods come from."""

LIKE_QUEUE, NONE = "like_queue", "none"
NODE_CONSTRAINTS = {LIKE_QUEUE: "like their queue", NONE: "none"}
"""The choices, in words that follow "Node constraints"."""
