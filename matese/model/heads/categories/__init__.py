"""The main MQM category of each error."""
