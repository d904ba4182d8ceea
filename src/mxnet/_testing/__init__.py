"""The parts of `mxnet.test_utils`, one subject a file."""
