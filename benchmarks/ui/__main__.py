"""The dashboard: pages that everybody can read, hostile texts, first paint, live lag, reports, docs; ends with one JSON
line.

python -m benchmarks.ui [--quick] [TOPIC …]
"""

from benchmarks.topics import run_topics

TOPICS = ("pages", "large", "live", "reports", "docs")

if __name__ == "__main__":
    run_topics("benchmarks.ui", TOPICS, __doc__)
