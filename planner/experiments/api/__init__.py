"""How do scripts make experiments, follow them, and read what they found?"""
