"""Data that comes with the package, read by the modules that offer it."""
