"""The API calls about clusters."""
