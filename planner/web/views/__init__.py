"""The pages that belong to no feature, and what all views share."""
