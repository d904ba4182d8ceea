"""Advice for users: explanations of wrong arguments, and files of documentation; imports nothing of the package."""
