"""One campaign over every effect: what it finds, what it costs, and what it is like to use; ends with one JSON line.

python -m benchmarks.effects [--quick] [TOPIC …]
"""

from benchmarks.topics import run_topics

TOPICS = ("random_systems", "demo", "pytest_overhead")

if __name__ == "__main__":
    run_topics("benchmarks.effects", TOPICS, __doc__)
