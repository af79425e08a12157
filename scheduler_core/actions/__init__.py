"""What a cycle does, by the names of the `actions` line."""
