"""One streaming predictor for every model: texts in, windows, batches, an engine, Ratings out."""
