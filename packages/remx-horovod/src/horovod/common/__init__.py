"""What Horovod's frameworks share."""
