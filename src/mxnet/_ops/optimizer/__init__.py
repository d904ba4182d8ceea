"""Optimizer updates: of one weight, of many weights in one call, and over whole lists of tensors."""
