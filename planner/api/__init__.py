"""The JSON API under /api/v1/, with the same results as the pages."""
