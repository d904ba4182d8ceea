"""What a traced graph takes at each call: the inputs of its block, and parameters."""

from operator import is_


class Arguments:
    """The arguments in order, each the place of an input or a parameter."""

    def __init__(self, arguments):
        self._arguments = arguments  # (is it an input, its place among them or the parameter)
        self._params = [arg for is_input, arg in arguments if not is_input]
        self._inputs = [(place, arg) for place, (is_input, arg) in enumerate(arguments) if is_input]
        self._ctx, self._lists = None, ()  # parameters' arrays at the last call, if there was one for each

    def at(self, given, ctx):
        """The arrays on a context; hundreds of parameters are asked for theirs only where some are new."""
        lists = [param._data for param in self._params]
        if ctx is not self._ctx or not all(map(is_, lists, self._lists)):
            return self._asked(given, ctx, lists)
        arrays = [single[0] for single in lists]
        for place, position in self._inputs:
            arrays.insert(place, given[position])
        return arrays

    def initialized(self):
        return all(param._data is not None for param in self._params)

    def _asked(self, given, ctx, lists):
        arrays = [given[arg] if is_input else arg.data(ctx) for is_input, arg in self._arguments]
        self._ctx, self._lists = (ctx, lists) if all(len(arrays) == 1 for arrays in lists) else (None, ())
        return arrays
