"""The page that answers: learn codes from clicks, or rotate?"""
