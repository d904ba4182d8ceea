"""What happens to samples that cannot be read: `on_error` of loaders and of the datasets that read files."""

import warnings


class Tolerant:
    """Mixed into datasets that define `_read(index)`: a sample that cannot be read is raised, or replaced.

    A dataset has as many samples as it says, so with "warn" and "skip" the next readable sample takes the place.
    """

    _on_error = "raise"

    def __getitem__(self, idx):
        if self._on_error == "raise":
            return self._read(idx)
        first = None
        for step in range(len(self)):
            try:
                return self._read(idx if step == 0 else (idx + step) % len(self))
            except IndexError:  # asked beyond the end: that is how iteration stops
                raise
            except Exception as error:  # whatever a file does to its reader is what the caller asked to pass over
                first = first or error
                if self._on_error == "warn":
                    warnings.warn(f"sample {idx} replaced by the next: {type(error).__name__}: {error}", stacklevel=2)
        raise first or IndexError(f"index {idx} of an empty dataset")
