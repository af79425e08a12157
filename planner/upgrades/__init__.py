"""What would another release of Volcano decide on the input of a run?"""
