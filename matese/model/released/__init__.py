"""Models of other programs: COMET, MetricX, and MaTESe as its authors released it."""
