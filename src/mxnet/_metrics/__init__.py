"""Metrics, by what they measure; `mxnet.metric` shows them all."""
