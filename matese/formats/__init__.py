"""Files of ratings: one module per format, with `read` and, if it can be written, `write`; both are lazy."""
