"""What is recorded while a session decides, so that explanations can say why?"""
