"""The API calls about accounts."""
