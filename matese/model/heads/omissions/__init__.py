"""Words of the reference or the source that the hypothesis lacks."""
