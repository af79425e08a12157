"""Which pages show experiments?"""
