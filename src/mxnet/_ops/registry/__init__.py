"""The operator registry: registration, lookup, signatures, inference for one call, gradient rules, observation."""
