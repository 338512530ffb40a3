"""Faults on a share of live requests: verdicts against an answer key, brake, costs, and ART; ends with one JSON line.

python -m benchmarks.impact [--quick] [TOPIC …]
"""

from benchmarks.topics import run_topics

TOPICS = ("planted", "without_fault", "everybody", "simulated", "marking", "guards", "workflow", "art")

if __name__ == "__main__":
    run_topics("benchmarks.impact", TOPICS, __doc__)
