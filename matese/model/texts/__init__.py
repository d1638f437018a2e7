"""From texts to the ids that an encoder reads, with exact character ranges."""
