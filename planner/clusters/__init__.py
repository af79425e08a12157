"""How does a cluster come in, how is it kept, and when is it deleted?"""
