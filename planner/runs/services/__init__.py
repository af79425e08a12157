"""What changes about runs, and by which rule?"""
