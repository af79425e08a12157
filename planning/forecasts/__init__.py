"""What do the next days bring? Workloads, verdicts, costs and comparisons of replays."""
