"""Who may log in, who is a member of which workspace, and who did what?"""
