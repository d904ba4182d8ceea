"""Programs that come with the package; each is a module that `python -m` runs."""
