"""The thread-local switches of automatic differentiation, and the scopes that turn them."""

import threading


class Modes(threading.local):
    """What MXNet keeps per thread: is the tape on, is the network training, how many graphs were consumed."""

    recording = False
    training = False
    epoch = 0  # grows with every backward that frees its graph


MODES = Modes()
