"""The operator registry: registration, lookup, signatures, shape inference of one call, gradient rules, wrappers."""
