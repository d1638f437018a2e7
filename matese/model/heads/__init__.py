"""What a network predicts: one folder a head."""
