"""Where actions meet plugins."""
