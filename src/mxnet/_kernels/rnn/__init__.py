"""Recurrent layers: LSTM, GRU and the vanilla recurrent layer."""
