"""An annotator behind HTTP: batches of what waits, an interface for programs, and a page."""
