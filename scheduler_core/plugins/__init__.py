"""Every plugin that the core models, by the name it has in a scheduler configuration."""
