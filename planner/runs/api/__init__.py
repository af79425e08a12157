"""The API calls about runs."""
