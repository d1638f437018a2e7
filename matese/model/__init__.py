"""Everything between texts and Ratings: texts to tokens, a network, its heads, and the stream."""
