"""Files that the tests of tasks and of commands read."""
