"""Where actions ask and plugins answer."""
