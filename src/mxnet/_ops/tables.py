"""Tables of whole numbers that tell native threads what to call (see entries): where each number stands."""

SLOT = 8  # bytes
# How many parts were taken, are done, and there are; how many threads have come; where the work begins, how much it is,
# and in what units it is divided; the bytes of each thread's scratch memory; and the kernel's arguments
TAKEN, DONE, TICKETS, PARTS, BEGIN, COUNT, UNIT, SCRATCH_SIZE, ARGUMENTS = range(9)
# Of a chain: how many kernels there are, what lets other threads run, and for each its entry and its table
LENGTH, YIELD, LINKS = range(3)
BOUNDS = {"first": "first", "begin": "first", "last": "last", "end": "last"}  # of a part, by names of arguments
