"""The parts of `remx selftest`: samples of operators, small trainings, timings."""
