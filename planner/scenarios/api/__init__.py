"""The API calls about scenarios."""
