"""Chunks of a shuffled record file: MXNet makes their samples in the order of the file and shuffles what comes out."""

import numpy as np


class Chunk:
    """The samples of the chunk that is being given out, made by one thread and one engine; fills rows of batches.

    Its position is that of the engine before this chunk was made: a program that resumes makes the chunk once more.
    """

    def __init__(self, order, shapes, make, engine):
        self._order = order
        self._shapes = shapes
        self._make = make
        self._engine = engine
        self._key = self._before = None
        self._arrays = [np.empty(0)]  # kept from chunk to chunk: new memory costs as much time as the pictures in it

    def __call__(self, place, _, arrays, row):
        chunk = self._order.chunk(place.position)
        if self._key != (place.epoch, chunk):
            self._read(chunk)
            self._key = place.epoch, chunk
        number = place.position - chunk.start
        if number in self._errors:
            raise self._errors[number]
        for target, source in zip(arrays, self._arrays, strict=True):
            target[row] = source[number]

    def skip(self):
        """Draw the random numbers of an epoch's first chunk, whose samples nobody asks for."""
        self._read(self._order.chunk(0))

    def get_state(self):
        """Where the engine is, and which chunk of which epoch was made from where."""
        if self._key is None:
            return {"engine": self._engine.get_state()}
        epoch, chunk = self._key
        return {"engine": self._before, "epoch": epoch, "first": chunk.start}

    def set_state(self, state):
        """Continue from what `get_state` returned."""
        self._engine.set_state(state["engine"])
        self._key = None
        if "first" in state:
            chunk = self._order.chunk(state["first"])
            self._read(chunk)
            self._key = state["epoch"], chunk

    def _read(self, chunk):
        self._key = None  # until all is there
        self._before = self._engine.get_state()
        if len(chunk) > len(self._arrays[0]):
            self._arrays = [np.empty((len(chunk), *shape[1:]), dtype) for shape, dtype in self._shapes]
        self._errors = {}
        for number, position in enumerate(chunk):
            try:
                self._make(position, self._engine, self._arrays, number)
            except Exception as error:  # it is told when its turn comes
                self._errors[number] = error
