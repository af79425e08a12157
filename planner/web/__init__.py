"""What all pages share: frame, formatting, lists, limits of requests; pages of no feature."""
