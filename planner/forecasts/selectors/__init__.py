"""Reads of workload traces and forecasts."""
