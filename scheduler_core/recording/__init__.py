"""Records kept while a session decides, as the basis of explanations."""
