"""How operators are called on NDArrays: generated functions, the checked slow path, arithmetic, history."""
