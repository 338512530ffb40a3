"""pebble #69: a future of the pool is waited for that never resolves. Here: the pages hang half-way, the pictures did not."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    results = run.state.get("results", {"page": [], "picture": []})
    pages, pictures, pending = results["page"], results["picture"], run.state.get("pending", {}).get("page", 0)
    hangs = pages[-1:] == ["no answer"] and "done" in pages and pending > 1
    return hangs and set(pictures) == {"done"}, f"pages: {pages.count('done')} read, {pending} pending; pictures: {len(pictures)}"


orc.judge(check)
