"""State that survives a restart of the job: `horovodrun --reset-limit 3` starts all processes again when one dies.

    @hvd.elastic.run
    def train(state):
        for state.epoch in range(state.epoch, 10):
            ...
            state.commit()

    train(hvd.elastic.MXNetState(net.collect_params(), trainer, epoch=0))

Process 0 writes what is committed into a folder of the launcher, and all begin with it after a restart.
"""

import functools
import os
import pickle

from mxnet._formats.atomic import write_file
from mxnet.gluon.parameter import Parameter

from ..runner import FOLDER
from . import basics
from .functions import broadcast_object


class ObjectState:
    """Values that are committed together; each is an attribute."""

    def __init__(self, **values):
        self._names, self._committed = tuple(values), None
        self._reset_callbacks = []
        for name, value in values.items():
            setattr(self, name, value)

    def register_reset_callbacks(self, callbacks):
        """Functions to call when training begins with a state of an earlier start."""
        self._reset_callbacks.extend(callbacks)

    def _now(self):
        return {name: getattr(self, name) for name in self._names}

    def _take(self, saved):
        for name in self._names:
            setattr(self, name, saved[name])

    def save(self):
        """Keep the values of now, in memory, and in the launcher's folder if there is one."""
        self._committed = pickle.dumps(self._now())
        if basics.rank() == 0 and (folder := os.environ.get(FOLDER)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            write_file(os.path.join(folder, "state"), self._committed)

    def commit(self):
        """What training goes on from if a process dies."""
        self.save()

    def check_host_updates(self):
        """Accepted: processes do not come and go while a job runs."""

    def restore(self):
        """Go back to what was committed last."""
        if self._committed is not None:
            self._take(pickle.loads(self._committed))

    def sync(self):
        """Give all processes what process 0 has committed, in this start or an earlier one."""
        path = os.path.join(os.environ.get(FOLDER, ""), "state")
        again = basics.rank() == 0 and FOLDER in os.environ and os.path.exists(path)
        if again:
            with open(path, "rb") as file:
                self._take(pickle.load(file))
        saved, again = broadcast_object((self._now(), again))
        self._take(saved)
        self._committed = pickle.dumps(saved)
        for callback in self._reset_callbacks if again else ():
            callback()


State = ObjectState


class MXNetState(ObjectState):
    """Parameters and the optimizer's states of a trainer, with other values.

    Parameters
    ----------
    params : ParameterDict or dict of NDArray
        Made already: their shapes are known.
    trainer : gluon.Trainer, optional
        Whose optimizer's states are part of it.
    **values
        Numbers and other objects that can be pickled.
    """

    def __init__(self, params, trainer=None, **values):
        super().__init__(**values)
        self._params, self._trainer = params, trainer

    def _now(self):
        arrays = {name: _array(value).asnumpy() for name, value in self._params.items()}
        states = self._trainer._updaters[0].get_states(True) if self._trainer else None
        return {"values": super()._now(), "arrays": arrays, "states": states}

    def _take(self, saved):
        super()._take(saved["values"])
        for name, value in self._params.items():
            _array(value)[:] = saved["arrays"][name]
        if self._trainer:
            self._load(saved["states"])

    def _load(self, states):
        trainer = self._trainer
        trainer._updaters[0].set_states(states)
        trainer._optimizer = trainer._updaters[0].optimizer
        trainer._optimizer.param_dict = dict(enumerate(trainer._params))


def _array(value):
    return value.data() if isinstance(value, Parameter) else value


def run(func):
    """Call the training function with a state that all processes share, that of an earlier start if there is one."""

    @functools.wraps(func)
    def wrapper(state, *args, **kwargs):
        state.sync()
        return func(state, *args, **kwargs)

    return wrapper
