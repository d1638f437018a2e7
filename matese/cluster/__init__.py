"""Files of segments, tagged by the workers of a cluster: cut into units, each of which one worker reads and writes."""
