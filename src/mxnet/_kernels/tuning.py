"""Every limit at which a kernel begins, or ceases, to be faster: one place, with what was measured where and when.

Processors: Z4 = AMD EPYC, Zen 4 (AVX-512), 2 cores; A2 = a processor with AVX2 only, 2 cores. Times were taken in turns
with torch 2.13's own operators. Each line: the limit, its unit, what lies beyond it, where and when it was measured.
"""

# Elementwise
ELU_ELEMENTS = 1 << 15  # elements; fewer are not worth loading a compiler (Z4, 2026-11)
ELEMENTWISE_PER_THREAD = 1 << 14  # elements in a part of the work; less takes longer to hand over (Z4, 2026-11)

# Optimizer steps
SINGLE_PASS_ELEMENTS = 1 << 17  # elements of all weights; fewer are not worth loading a compiler (Z4, 2026-11)
SINGLE_PASS_AFTER = 1 << 27  # elements that torch's kernel has changed before, in all steps (Z4, 2026-11)
SINGLE_PASS_PER_THREAD = 1 << 15  # elements in a part of the work (Z4, 2026-11)
