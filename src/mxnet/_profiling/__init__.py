"""Parts of `mxnet.profiler`: the record, the tables of `dumps`, and a program's own marks."""
