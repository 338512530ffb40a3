"""Whether what Cutset says is true: a file per topic; `python -m benchmarks.truth` runs them all."""
