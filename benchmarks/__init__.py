"""How long does the core take, and what would be the least?"""
