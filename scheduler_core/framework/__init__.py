"""Sessions, statements and extension points: the interface between actions and plugins."""
