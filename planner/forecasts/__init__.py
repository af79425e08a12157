"""What do the next hours and days bring to a scenario under a workload?"""
