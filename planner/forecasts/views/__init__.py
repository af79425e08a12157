"""The pages of workload traces and forecasts."""
