"""Looking into graphs: monitors and memory use."""
