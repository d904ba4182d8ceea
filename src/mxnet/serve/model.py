"""The network behind a server: what it takes, what it gives, and batches of several requests."""

import numpy as np

from .._core.errors import MXNetError
from .._kernels.runtime.loader import load_used
from ..deploy import Predictor
from .errors import Refused

WARM = 3  # runs before the first request: kernels are loaded after the first one, the later ones use them
DRAWS = 3  # attempts: a near tie of an argmax may fall either way, but not each time
NEAR = 1e-2  # of the largest output; other batch sizes round differently, float16 most


class Model:
    """A checkpoint whose inputs have rows: the first axis of every input and output, of any length up to a bound."""

    def __init__(self, settings):
        self.name, self.version = settings.name, str(settings.epoch)
        self.shapes = {name: tuple(shape) for name, shape in settings.shapes.items()}
        self.types = {name: settings.types.get(name, "float32") for name in self.shapes}
        self._predictor = Predictor(settings.prefix, settings.epoch, self.shapes, type_dict=self.types)
        self.outputs = self._predictor.output_names
        self.has_rows = self._rows_are_free() and self._rows_are_independent()
        self.max_batch = settings.max_batch if self.has_rows else 1
        outputs = self._warm_up()
        self.output_types = {name: array.dtype.name for name, array in outputs.items()}
        self.output_shapes = {name: array.shape for name, array in outputs.items()}

    def _rows_are_free(self):
        """Has every output as many rows as the inputs, whatever their number?"""
        for rows in (3, 2):
            try:
                self._predictor.reshape({name: (rows, *shape[1:]) for name, shape in self.shapes.items()})
            except MXNetError:
                return False
            if any(not shape or shape[0] != rows for shape in self._predictor.output_shapes):
                return False
        return True

    def _rows_are_independent(self):
        """Does a row of the outputs depend on that row of the inputs alone? Not if the first axis is time."""
        drawn = np.random.RandomState(0)
        try:
            return any(self._agree(*(self._draw(drawn, rows) for rows in (1, 2))) for _ in range(DRAWS))
        except MXNetError:  # not every network takes any numbers
            return False

    def _draw(self, drawn, rows):
        """A request with random numbers, which are indices, too."""
        return {n: drawn.uniform(0, 2, (rows, *s[1:])).astype(self.types[n]) for n, s in self.shapes.items()}

    def _agree(self, *requests):
        """Are the outputs of these requests computed together those of each alone?"""
        alone = [self.run([one])[0] for one in requests]
        together = self.run(requests)
        pairs = [(one[n], other[n]) for one, other in zip(alone, together, strict=True) for n in self.outputs]
        return all(_close(one, other) for one, other in pairs)

    def _warm_up(self):
        """The outputs for zeros. Kernels for one row and for full batches are there before the first request is."""
        for rows in (self.max_batch, 1) if self.has_rows else (0,):
            shapes = {n: (rows, *shape[1:]) if rows else shape for n, shape in self.shapes.items()}
            for _ in range(WARM):
                outputs = self._compute({n: np.zeros(shape, self.types[n]) for n, shape in shapes.items()})
                load_used()
        return outputs

    def rows_of(self, arrays):
        """Check the inputs of a request; how many rows it has."""
        if sorted(arrays) != sorted(self.shapes):
            raise Refused(400, f"the inputs of {self.name} are {', '.join(self.shapes)}, got {', '.join(arrays)}")
        rows = {self._check(name, array) for name, array in arrays.items()}
        if len(rows) > 1:
            raise Refused(400, f"all inputs must have the same number of rows, got {sorted(rows)}")
        return rows.pop() if self.has_rows else 1

    def _check(self, name, array):
        """The rows of one input."""
        expected, free = self.shapes[name], int(self.has_rows)
        if array.dtype.name != self.types[name]:
            raise Refused(400, f"input {name} has type {self.types[name]}, got {array.dtype.name}")
        if array.ndim != len(expected) or array.shape[free:] != expected[free:]:
            shown = [-1, *expected[1:]] if free else list(expected)
            raise Refused(400, f"input {name} has shape {shown}, got {list(array.shape)}")
        rows = len(array) if free else 0
        if free and not 1 <= rows <= self.max_batch:
            raise Refused(400, f"a request has 1 to {self.max_batch} rows, got {rows}")
        return rows

    def _compute(self, arrays):
        self._predictor.reshape({name: array.shape for name, array in arrays.items()})
        self._predictor.forward(**arrays)
        return {name: self._predictor.get_output(i) for i, name in enumerate(self.outputs)}

    def run(self, requests):
        """The outputs of each request, all computed together; called by one thread at a time."""
        if len(requests) == 1:
            return [self._compute(requests[0])]
        together = self._compute({name: np.concatenate([one[name] for one in requests]) for name in self.shapes})
        counts = [len(next(iter(one.values()))) for one in requests]
        ends = np.cumsum(counts)
        return [{n: array[end - m : end] for n, array in together.items()} for end, m in zip(ends, counts, strict=True)]


def _close(one, other):
    if one.dtype.kind != "f" or not one.size:
        return np.array_equal(one, other)
    one, other = one.astype(np.float64), other.astype(np.float64)
    largest = np.abs(one[np.isfinite(one)]).max(initial=0)
    return np.allclose(one, other, rtol=0, atol=NEAR * largest, equal_nan=True)
