"""The API calls about workload traces and forecasts."""
