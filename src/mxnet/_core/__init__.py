"""What every layer stands on: errors, dtypes, attribute parsing, modes, streams. No torch here."""
