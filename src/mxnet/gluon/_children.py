"""The children of a block, for code of every age: first they were a list, later a dictionary."""

from collections import OrderedDict


class Children(OrderedDict):
    """Blocks by name. Iterating gives the blocks, and a position or a block will do in place of a name.

    So `for block in self._children`, `self._children.append(block)` and `self._children[0]` of the oldest code work,
    `.items()`, `.values()` and `self._children["0"]` of the later, and `self._children[key] for key in self._children`.
    """

    def append(self, block):
        self[str(len(self))] = block

    def extend(self, blocks):
        for block in blocks:
            self.append(block)

    def __iter__(self):
        return iter(self.values())

    def __reversed__(self):
        return reversed(self.values())

    def __getitem__(self, key):
        if isinstance(key, str):
            return super().__getitem__(key)
        if isinstance(key, (int, slice)):
            return list(self.values())[key]
        if key in self:
            return key
        raise KeyError(key)

    def __setitem__(self, key, block):
        if isinstance(key, int):
            key = list(self.keys())[key]
        super().__setitem__(key, block)

    def __contains__(self, key):
        return super().__contains__(key) if isinstance(key, str) else any(key is block for block in self.values())
