"""The same answers as the pages, as JSON under /api/v1/."""
