"""prometheus_client #1199: pages are served, but each scrape of the metrics fails, for good."""
import orc


def check(state, log):
    served = state.get("served", 0) >= state.get("pages", 99) - 3
    failed = not any(state.get("last") or [True])
    return served and failed, f"{state.get('failed')} of {state.get('scrapes')} scrapes failed, pages: {state.get('served')}"


orc.main(check)
