"""Virtual machines that announce AMX without the description of its tiles.

oneDNN configures tiles from CPUID leaf 0x1D. Where a hypervisor reports the AMX flags but ends CPUID before that leaf,
the first product of bfloat16 or int8 ends the process with an illegal instruction, in plain torch programs as well.
oneDNN is then limited to AVX-512, through its own environment variable, which it reads when it first computes.
"""

import os
from collections.abc import Iterable

CPU_INFO = "/proc/cpuinfo"
VARIABLES = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")  # a user's own setting is kept
WITHOUT_AMX = "AVX512_CORE_FP16"
_TILE_LEAF = 0x1D


def lacks_tile_description(lines: Iterable[str]) -> bool:
    """Do the lines of `/proc/cpuinfo` announce AMX, but not the CPUID leaf that describes its tiles?"""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if not name.strip():
            break  # the first processor is described
        fields[name.strip()] = value.strip()
    level = fields.get("cpuid level", "")
    return "amx_tile" in fields.get("flags", "").split() and level.isdecimal() and int(level) < _TILE_LEAF


def limit_onednn() -> bool:
    """Keep oneDNN from using AMX on such a machine, unless the user has set its variable; was it necessary?"""
    try:
        with open(CPU_INFO, encoding="utf-8") as file:
            hidden = lacks_tile_description(file)
    except OSError:
        return False
    if hidden and not any(os.environ.get(name) for name in VARIABLES):
        os.environ[VARIABLES[0]] = WITHOUT_AMX
    return hidden
