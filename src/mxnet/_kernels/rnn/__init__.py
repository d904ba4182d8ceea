"""Recurrent layers: LSTM, GRU and the plain recurrent layer."""
