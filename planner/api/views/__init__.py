"""Each call: one selector, one service or one task, then an answer."""
