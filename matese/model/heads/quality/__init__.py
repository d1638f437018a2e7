"""The score of a whole segment, as in the COMET family and MetricX."""
