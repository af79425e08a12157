"""Writes of workload traces and forecasts."""
