"""Authenticated messages between the processes of one job: secret, handshake, frames, server. Imports `_core` only."""
