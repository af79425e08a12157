"""The product: scenarios, runs and their outcomes."""
