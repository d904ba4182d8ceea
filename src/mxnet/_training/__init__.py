"""What the training front ends (`model`, `module`, `callback`) have in common."""
