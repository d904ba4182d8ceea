"""Small calls, written for MXNet's API and for torch: what an eager call costs beside the work it does."""

CALLS = 200  # in one burst


def repeated(call, wait=None):
    """CALLS calls as one step; `wait` lets an asynchronous engine come to its end."""

    def step():
        for _ in range(CALLS):
            call()
        if wait is not None:
            wait()

    step.calls = CALLS
    return step


def mx_calls():
    """name -> the call, on MXNet or ReMX."""
    from mxnet import nd

    a, c = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array([[1, 2], [3, 4], [5, 6]])
    b = a + 1
    nd.waitall()
    return {
        "a + b": lambda: a + b,
        "a * 2.5": lambda: a * 2.5,
        "nd.exp(a)": lambda: nd.exp(a),
        "a[1]": lambda: a[1],
        "a[0:1]": lambda: a[0:1],
        "a.sum()": lambda: a.sum(),
        "a.sum(axis=1)": lambda: a.sum(axis=1),
        "nd.dot(a, c)": lambda: nd.dot(a, c),
        "a > b": lambda: a > b,
        "a.asnumpy()": lambda: a.asnumpy(),
    }


def torch_calls():
    """The same calls in torch."""
    import torch

    a, c = torch.tensor([[1.0, 2, 3], [4, 5, 6]]), torch.tensor([[1.0, 2], [3, 4], [5, 6]])
    b = a + 1
    return {
        "a + b": lambda: a + b,
        "a * 2.5": lambda: a * 2.5,
        "nd.exp(a)": lambda: torch.exp(a),
        "a[1]": lambda: a[1],
        "a[0:1]": lambda: a[0:1],
        "a.sum()": lambda: a.sum(),
        "a.sum(axis=1)": lambda: a.sum(1),
        "nd.dot(a, c)": lambda: torch.mm(a, c),
        "a > b": lambda: a > b,
        "a.asnumpy()": lambda: a.numpy().copy(),
    }


NAMES = "a + b|a * 2.5|nd.exp(a)|a[1]|a[0:1]|a.sum()|a.sum(axis=1)|nd.dot(a, c)|a > b|a.asnumpy()".split("|")


def mx_works():
    from mxnet import nd

    return {"small call: " + n: lambda n=n: repeated(mx_calls()[n], nd.waitall) for n in NAMES}


def torch_works():
    return {"small call: " + n: lambda n=n: repeated(torch_calls()[n]) for n in NAMES}
