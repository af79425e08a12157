"""The plugins that the core models, by their names in a scheduler configuration."""
