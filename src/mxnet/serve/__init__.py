"""A saved network as a service over HTTP: `remx serve`. On top of `mxnet.deploy`, Starlette and uvicorn."""
