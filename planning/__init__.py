"""Planning without a database: states of a scenario, edits, frozen input, outcomes, checks."""
