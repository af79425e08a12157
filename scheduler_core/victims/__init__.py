"""Whose pods are evicted to make room, and on which nodes is it worth asking?"""
