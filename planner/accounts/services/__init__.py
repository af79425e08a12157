"""What changes about accounts, and by which rule?"""
