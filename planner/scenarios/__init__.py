"""How is a what-if made, edited, checked and exported?"""
