"""Forecasts: workloads, verdicts, costs and comparisons of replays."""
