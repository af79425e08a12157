"""Whose pods are evicted to make room, and which nodes are worth a search?"""
