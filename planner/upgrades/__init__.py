"""The impact of an upgrade: the decisions of another release of Volcano on the input of a run."""
