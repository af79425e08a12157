"""The product: scenarios, runs and what came out of them."""
