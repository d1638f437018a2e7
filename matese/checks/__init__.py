"""Rule-based checks of a translation and its source, with few false alarms."""
