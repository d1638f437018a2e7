"""Models that score whole segments, and unified models that also mark errors: the COMET family."""
