"""What changes about experiments, and by which rule?"""
