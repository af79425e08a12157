"""Search for the smallest change of each kind with which a figure of the queue table reaches an amount."""
