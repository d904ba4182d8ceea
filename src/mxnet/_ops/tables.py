"""Tables of whole numbers that tell native threads what to call (see entries): where each number stands."""

SLOT = 8  # bytes
# How many parts were taken, and there are; how many threads have come; where the work begins, how much it is, and in
# what units it is divided; the bytes of each thread's scratch memory; and the kernel's arguments
TAKEN, PARTS, TICKETS, BEGIN, COUNT, UNIT, SCRATCH_SIZE, ARGUMENTS = range(8)
BOUNDS = {"first": "first", "begin": "first", "last": "last", "end": "last"}  # of a part, by names of arguments
