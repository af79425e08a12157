"""What do all pages share: frame, formatting, lists, limits of requests?"""
