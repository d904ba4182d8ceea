"""Self-attention on interleaved projections, head by head."""
