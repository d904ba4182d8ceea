"""MXNet's random streams (mt19937) by compiled loops."""
