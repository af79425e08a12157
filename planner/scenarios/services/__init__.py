"""What changes about scenarios, and by which rule?"""
