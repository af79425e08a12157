"""What would the scheduler do, and why? Runs, their outcomes and explanations."""
