"""The two versions: whose API this is, and our own."""

MXNET_VERSION = "1.9.1"
REMX_VERSION = "0.1.0"
