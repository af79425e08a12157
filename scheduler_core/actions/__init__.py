"""The actions of a session, by their names in the configuration."""
