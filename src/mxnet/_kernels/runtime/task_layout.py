"""Layout of the integer tables that tell native threads what to call (see entry_points)."""

SLOT = 8  # bytes
# Which parts were taken, a bit for each, how many are done, and how many there are; how many threads there are, and
# what tells one its number; where the work begins, how much it is, and in what units it is divided; the bytes of each
# thread's scratch memory; the kernel's address, and its arguments
TAKEN, DONE, PARTS, THREADS, RANK, BEGIN, COUNT, UNIT, SCRATCH_SIZE, KERNEL, ARGUMENTS = range(11)
MOST_PARTS = 63
# Of a chain: how many kernels there are, what lets other threads run, and for each its entry and its table
LENGTH, YIELD, LINKS = range(3)
BOUNDS = {"first": "first", "begin": "first", "last": "last", "end": "last"}  # of a part, by names of arguments
