"""What do pages read that belong to no feature?"""
