"""Prepare training data from public MQM ratings."""
