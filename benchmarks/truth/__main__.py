"""Complete means decided, contained means contained, records are what was recorded: all topics, one JSON line.

python -m benchmarks.truth [--quick] [TOPIC …]
"""

from benchmarks.topics import run_topics

TOPICS = ("random_systems", "chaos", "zoo", "edge", "records", "forgeries", "doctor")

if __name__ == "__main__":
    run_topics("benchmarks.truth", TOPICS, __doc__)
