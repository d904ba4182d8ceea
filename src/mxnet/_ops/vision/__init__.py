"""Operators of computer vision: boxes, regions of interest, resizing, image transforms, colour."""
