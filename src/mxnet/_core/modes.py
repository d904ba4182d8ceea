"""The switches of automatic differentiation, of which each thread has its own."""

import threading


class Modes(threading.local):
    """What MXNet keeps per thread: is the tape on, is the network training, how many graphs were consumed."""

    recording = False
    training = False
    epoch = 0  # grows with every backward that frees its graph


MODES = Modes()
