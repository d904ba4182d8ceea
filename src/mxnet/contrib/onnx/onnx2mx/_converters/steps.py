"""Recurrent layers with formulas that the fused operator lacks, step by step as the body of a `foreach`."""

from ..... import symbol as sym

ACTIVATIONS = {
    "Sigmoid": sym.sigmoid, "Tanh": sym.tanh, "Relu": sym.relu, "Softsign": sym.softsign,
    "Softplus": lambda x: sym.Activation(x, act_type="softrelu"),
    "Hardsigmoid": lambda x, alpha=0.2, beta=0.5: sym.hard_sigmoid(x, alpha=alpha, beta=beta),
    "Leakyrelu": lambda x, alpha=0.01: sym.LeakyReLU(x, act_type="leaky", slope=alpha),
    "Elu": lambda x, alpha=1.0: sym.LeakyReLU(x, act_type="elu", slope=alpha),
    "Affine": lambda x, alpha=1.0, beta=0.0: x * alpha + beta,
    "Scaledtanh": lambda x, alpha=1.0, beta=1.0: sym.tanh(x * beta) * alpha,
    "Thresholdedrelu": lambda x, alpha=1.0: x * (x > alpha),
}  # fmt: skip
BETA = ("Hardsigmoid", "Affine", "Scaledtanh")
WITHOUT_NUMBERS = ("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus")
DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def reversed_in_time(x, lengths):
    """The steps from the last to the first, for each sequence by its own length."""
    if lengths:
        return sym.SequenceReverse(x, sym.cast(lengths[0], dtype="float32"), use_sequence_length=True)
    return sym.reverse(x, axis=0)


def stepwise(node):
    """[outputs (time, direction, batch, size), last state, last cell]."""
    batch_first = bool(node.attr("layout", 0))
    x = sym.swapaxes(node.sym(), dim1=0, dim2=1) if batch_first else node.sym()
    direction = node.attr("direction", "forward")
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    runs = [Run(node, number, x, back) for number, back in enumerate(backward)]
    outputs = sym.stack(*(run.outputs for run in runs), axis=1)
    finals = [sym.stack(*states, axis=0) for states in zip(*(run.states for run in runs), strict=True)]
    if batch_first:
        return [sym.transpose(outputs, axes=(2, 0, 1, 3)), *(sym.swapaxes(s, dim1=0, dim2=1) for s in finals)]
    return [outputs, *finals]


class Run:
    """One direction of a recurrent layer: its outputs and its last states."""

    def __init__(self, node, number, x, backward):
        self.node, self.number, self.size = node, number, node.attr("hidden_size")
        self.gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[node.op]
        self.functions = self._functions()
        lengths = [node.sym(4)] if node.has(4) else []
        x = reversed_in_time(x, lengths) if backward else x
        self.inner, self.weight, self.bias, self.peepholes = self._weights()
        data = [sym.FullyConnected(x, self.inner, no_bias=True, num_hidden=self.gates * self.size, flatten=False)]
        if lengths:
            steps = sym.contrib.arange_like(x, axis=0)
            alive = sym.broadcast_lesser(
                sym.reshape(steps, shape=(-1, 1)), sym.reshape(sym.cast(lengths[0], dtype=node.dtype()), shape=(1, -1))
            )
            data.append(sym.expand_dims(alive, axis=2))
        outputs, self.states = sym.contrib.foreach(self._step, data, self._begin(data[0]), name=f"{node.name}_{number}")
        self.outputs = reversed_in_time(outputs, lengths) if backward else outputs

    def _functions(self):
        count = len(DEFAULTS[self.node.op])
        names = [n.capitalize() for n in self.node.attr("activations") or []] or DEFAULTS[self.node.op] * 2
        alphas, betas = (list(self.node.attr(n) or []) for n in ("activation_alpha", "activation_beta"))
        found = []
        for name in names:
            if name not in ACTIVATIONS:
                raise self.node.refuse(f"the activation {name} cannot be imported")
            numbers = {} if name in WITHOUT_NUMBERS or not alphas else {"alpha": alphas.pop(0)}
            numbers.update({"beta": betas.pop(0)} if name in BETA and betas else {})
            found.append(lambda x, call=ACTIVATIONS[name], numbers=numbers: call(self._clipped(x), **numbers))
        return found[count * self.number : count * (self.number + 1)]

    def _clipped(self, x):
        limit = self.node.attr("clip")
        return sym.clip(x, a_min=-limit, a_max=limit) if limit else x

    def _of_direction(self, index):
        return sym.squeeze(sym.slice_axis(self.node.sym(index), axis=0, begin=self.number, end=self.number + 1), axis=0)

    def _weights(self):
        has = self.node.has
        bias = self._of_direction(3) if has(3) else None
        peepholes = self._of_direction(7) if has(7) else None
        return self._of_direction(1), self._of_direction(2), bias, peepholes

    def _begin(self, like):
        """The states at the start: given, or zeros as many as the batch has rows."""
        states = []
        for index in (5, 6) if self.node.op == "LSTM" else (5,):
            if not self.node.has(index):
                first = sym.squeeze(sym.slice_axis(like, axis=0, begin=0, end=1), axis=0)
                states.append(sym.zeros_like(sym.slice_axis(first, axis=1, begin=0, end=self.size)))
                continue
            state = self.node.sym(index)
            state = sym.swapaxes(state, dim1=0, dim2=1) if self.node.attr("layout", 0) else state
            states.append(sym.squeeze(sym.slice_axis(state, axis=0, begin=self.number, end=self.number + 1), axis=0))
        return states

    def _step(self, data, states):
        new = getattr(self, f"_{self.node.op.lower()}")(data[0], states)
        output = new[0]
        if len(data) > 1:  # a sequence that has ended keeps its states and gives zeros
            alive = data[1]
            new = [sym.broadcast_add(s, sym.broadcast_mul(alive, n - s)) for n, s in zip(new, states, strict=True)]
            output = sym.broadcast_mul(alive, output)
        return output, new

    def _gate(self, x, number):
        return sym.slice_axis(x, axis=-1, begin=number * self.size, end=(number + 1) * self.size)

    def _bias(self, first, count=1, recurrent=False):
        """The biases of some gates: those of the data, or those of the state, which follow them."""
        shift = self.gates if recurrent else 0
        return sym.slice_axis(self.bias, axis=0, begin=(first + shift) * self.size,
                              end=(first + shift + count) * self.size)  # fmt: skip

    def _product(self, state, first, count):
        """The state times the weights of some gates."""
        rows = sym.slice_axis(self.weight, axis=0, begin=first * self.size, end=(first + count) * self.size)
        return sym.FullyConnected(state, rows, no_bias=True, num_hidden=count * self.size, flatten=False)

    def _sums(self, x, state, count):
        """Data and state of the first gates, with both biases."""
        x = sym.slice_axis(x, axis=-1, begin=0, end=count * self.size) + self._product(state, 0, count)
        if self.bias is None:
            return x
        return sym.broadcast_add(x, self._bias(0, count) + self._bias(0, count, recurrent=True))

    def _rnn(self, x, states):
        return [self.functions[0](self._sums(x, states[0], 1))]

    def _gru(self, x, states):
        (state,) = states
        gates = self.functions[0](self._sums(x, state, 2))
        update, reset = self._gate(gates, 0), self._gate(gates, 1)
        new = self._gate(x, 2)
        new = new if self.bias is None else sym.broadcast_add(new, self._bias(2))
        if self.node.attr("linear_before_reset", 0):
            old = self._product(state, 2, 1)
            old = old if self.bias is None else sym.broadcast_add(old, self._bias(2, recurrent=True))
            new = new + reset * old
        else:
            new = new + self._product(reset * state, 2, 1)
            new = new if self.bias is None else sym.broadcast_add(new, self._bias(2, recurrent=True))
        new = self.functions[1](new)
        return [new + update * (state - new)]

    def _lstm(self, x, states):
        state, cell = states
        sums = self._sums(x, state, 4)
        squash, candidate, last = self.functions
        if self.peepholes is None:
            peep = [lambda value, c: value] * 3
        else:
            peep = [
                lambda value, c, i=i: sym.broadcast_add(value, sym.broadcast_mul(c, self._gate(self.peepholes, i)))
                for i in range(3)
            ]
        enter = squash(peep[0](self._gate(sums, 0), cell))
        if self.node.attr("input_forget", 0):
            forget = 1 - enter
        else:
            forget = squash(peep[2](self._gate(sums, 2), cell))
        cell = forget * cell + enter * candidate(self._gate(sums, 3))
        leave = squash(peep[1](self._gate(sums, 1), cell))
        return [leave * last(cell), cell]
