"""What happens to every request before a view sees it?"""
