"""Names that other packages have dropped since MXNet's programs were written, put back for one process.

`names` says which and what to write instead, `restore` puts them back and notes which were used. Nothing here is loaded
by `import mxnet`.
"""
