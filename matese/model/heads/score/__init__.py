"""The expected MQM score of a segment."""
