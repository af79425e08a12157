"""The search for victims: which pods to evict, and which nodes to search."""
