"""What does a browser get? Each page is one selector, one service or one task, and one template."""
