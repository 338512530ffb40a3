"""The Python API, `import cutset`: what the commands do, as functions that return when it is done.

Who wants the events as they happen, or is asynchronous anyway, uses the generators of `cutset.app` underneath.
"""
