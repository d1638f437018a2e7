"""What a user can ask for, from Python and from the command line: one module a task.

A task is a `Request`, whose fields are its options, and `run`, which does what a request asks for. `request.function`
makes of both what Python users call, such as `matese.compare`; `matese.cli` makes options of the same fields.
"""
