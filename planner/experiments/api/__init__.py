"""The API calls about experiments."""
