"""`horovodrun`, and what it tells the processes that it starts."""

FOLDER = "HOROVOD_ELASTIC_FOLDER"  # where committed states are kept; only this user can enter it
