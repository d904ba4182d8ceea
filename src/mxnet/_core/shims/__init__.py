"""What stands for parts of MXNet that are not Python: its C library, handles, and modules filled from it."""
