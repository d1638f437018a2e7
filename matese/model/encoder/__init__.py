"""Encoders and the layers they are made of, in torch and in numpy."""
