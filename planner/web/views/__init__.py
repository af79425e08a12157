"""Which pages belong to no feature, and what do all pages share?"""
