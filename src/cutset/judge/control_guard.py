"""Whether the control group itself got worse than it was before: then the fault hurts those who do not carry it.

Pools that are shared, retries and queues spread a fault to everybody, which a comparison with the control cannot see.
An e-process of the control's failures against "at most half as many again as before", mixed over thirty worse rates:
it reaches 100 with a probability of at most 1 %, however often one looks. Simulated: 0.15 % false halts; four times as
many failures as before end the run after 800 requests, twenty times as many after 50.
"""

from math import exp, log

from cutset.judge.intervals import wilson

TOLERATED = 1.5  # times the failures of before: less is drift
EVIDENCE = 100.0
ALTERNATIVES = 30
_BEFORE_Z = 1.645  # the rate of before is only known so well: its upper 95 % limit
_CERTAIN = 0.99  # a rate that nothing gets notably worse than


class ControlGuard:
    def __init__(self, before_failed: int, before_requests: int) -> None:
        usual = min(_CERTAIN, TOLERATED * wilson(before_failed, before_requests, _BEFORE_Z).high)
        # Worse rates, evenly in the logarithm of their odds, from a fifth more up to nearly all.
        lowest, highest = log(1.2 * usual / (1 - usual)), log(999.0)
        odds = [exp(lowest + (highest - lowest) * step / (ALTERNATIVES - 1)) for step in range(ALTERNATIVES)]
        rates = [each / (1 + each) for each in odds]
        self._gains = [(log(rate / usual), log((1 - rate) / (1 - usual))) for rate in rates]
        self.failed = 0
        self.requests = 0
        self.tripped = False

    def add(self, failed: bool) -> bool:  # noqa: FBT001
        """One more request of the control group. Whether there is no doubt any more, now or earlier."""
        self.requests += 1
        self.failed += failed
        if failed and not self.tripped:  # only failures add to the evidence
            self.tripped = self.log_evidence >= log(EVIDENCE)
        return self.tripped

    @property
    def log_evidence(self) -> float:
        well = self.requests - self.failed
        evidence = [self.failed * bad + well * good for bad, good in self._gains]
        top = max(evidence)
        return top + log(sum(exp(each - top) for each in evidence) / ALTERNATIVES)
