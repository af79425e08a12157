"""Workload traces, and forecasts: replays of a scenario under a trace."""
