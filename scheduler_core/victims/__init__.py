"""The search for victims: the pods to evict, and the nodes worth a search."""
