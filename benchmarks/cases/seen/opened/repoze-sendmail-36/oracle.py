"""repoze.sendmail #36: a mail is wedged in the queue, all others go out. Here: the one to the billing of Acme."""
import orc


def check(run: orc.Run) -> tuple[bool, str]:
    received, queued = run.state.get("received", []), run.state.get("queued", 0)
    wedged = "billing-acme@example.com" not in received and len(received) == queued - 1
    return wedged and bool(run.state["left"]), f"{len(received)} of {queued} delivered, left: {len(run.state.get('left', []))} files"


orc.judge(check)
