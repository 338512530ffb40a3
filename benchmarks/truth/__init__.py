"""Whether what Cutset says is true: a file per topic, each with `measure`; `python -m benchmarks.truth` runs them all."""
