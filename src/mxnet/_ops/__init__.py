"""Operators: the registry, how they are called, how shapes are inferred, and one file per family."""
