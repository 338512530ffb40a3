"""Request paths with known routes, as `lineage/templates` and as drain3 (CAST §3.3) see them.

    python benchmarks/templates_vs_drain3.py

Two numbers for each: pairs of routes that were merged, and routes that were split into several templates.
"""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

from cutset.lineage.templates import learn, templates_of

RNG = random.Random(11)
WORDS = sorted({"".join(RNG.choices("bcdfghklmnprstvw", k=RNG.randint(5, 9))) for _ in range(3000)})

# Each route with the words that may stand in its places; `#` is a number, `~` one of many words.
ROUTES = (
    *("/", "/cart", "/cart/checkout", "/cart/empty", "/product/#", "/product/#/reviews", "/login", "/logout"),
    *("/blog", "/blog/~", "/blog/~/comments", "/users/me", "/users/me/settings", "/users/~", "/users/~/posts/#"),
    *("/oauth2/token", "/oauth2/revoke", "/api/v1/health", "/api/v2/health", "/s3/~/objects/#"),
    *(f"/api/v1/{word}" for word in WORDS[:30]),
    *(f"/api/v1/{word}/#" for word in WORDS[:30]),
    *(f"/api/v1/{word}/#/{word[::-1]}" for word in WORDS[:30]),
)


def requests(count: int) -> list[tuple[str, str]]:
    """Routes with a path of each."""
    chosen = RNG.choices(ROUTES, k=count)
    return [(route, "/".join(_filled(segment) for segment in route.split("/"))) for route in chosen]


def _filled(segment: str) -> str:
    if segment == "#":
        return str(RNG.randrange(10**6))
    return f"{RNG.choice(WORDS)}-{RNG.choice(WORDS)}" if segment == "~" else segment


def drain_clusters(paths: Sequence[str]) -> list[str]:
    """The template of each path, after all have been seen; `/` separates words, all else as drain3 comes."""
    config = TemplateMinerConfig()
    config.drain_extra_delimiters = ["/"]
    miner = TemplateMiner(config=config)
    lines = [f"GET {path}" for path in paths]
    for line in lines:
        miner.add_log_message(line)
    found = [miner.match(line) for line in lines]
    return [cluster.get_template() if cluster else line for cluster, line in zip(found, lines, strict=True)]


def our_templates(paths: Sequence[str]) -> list[str]:
    templates = templates_of(learn(("shop", "GET", path, 1) for path in paths))
    return [templates.template("shop", "GET", path) for path in paths]


def compare(name: str, find: Callable[[Sequence[str]], list[str]], sample: Sequence[tuple[str, str]]) -> None:
    start = time.process_time()
    found = find([path for _, path in sample])
    microseconds = (time.process_time() - start) / len(sample) * 1e6
    templates, routes = defaultdict(set), defaultdict(set)
    for (route, _), template in zip(sample, found, strict=True):
        templates[route].add(template)
        routes[template].add(route)
    merged = sum(len(group) * (len(group) - 1) // 2 for group in routes.values())
    split = sum(len(group) > 1 for group in templates.values())
    print(
        f"{name:8} {len(templates):4} routes -> {len(routes):5} templates; {merged:4} pairs merged, "
        f"{split:3} routes split; {microseconds:5.1f} µs a path"
    )


if __name__ == "__main__":
    for size in (1_000, 20_000):
        paths = requests(size)
        print(f"{size} requests")
        compare("cutset", our_templates, paths)
        compare("drain3", drain_clusters, paths)
