"""What changes about clusters, and by which rule?"""
