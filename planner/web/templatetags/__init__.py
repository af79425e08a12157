"""Which words do templates have of their own?"""
