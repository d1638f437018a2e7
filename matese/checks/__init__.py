"""Findings that need no model: what a program can see of a translation beside its source, with few false alarms."""
