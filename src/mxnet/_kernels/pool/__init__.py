"""Pooling in channels-last (NHWC) and channels-first (NCHW) memory order."""
