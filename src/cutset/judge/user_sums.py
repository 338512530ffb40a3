"""Requests and bad ones by user, as sums from which a share and its cluster-robust variance follow (delta method).

Requests of one user are not independent: a user whose basket is broken fails again and again. So users are what is
counted, and the variance of a share p is Σ(x − p·n)² / N² over users with x bad of n requests: the sums of n², x·n and
x² are all that it takes, and adding a request costs the same however many there are.

Two users are made up, one with bad requests only and one without any, each of average size. Without them no failure at
all would be certainty. Where each user sends one request this is Agresti and Caffo's estimate, to the digit.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SmoothedShare:
    share: float
    variance: float


@dataclass(slots=True)
class UserSums:
    users: int = 0
    requests: int = 0
    bad: int = 0
    requests_squared: int = 0
    bad_times_requests: int = 0
    bad_squared: int = 0
    bad_of: dict[str, int] = field(default_factory=dict)  # of users with any

    def add(self, user: str, earlier: int, *, bad: bool) -> None:
        """`earlier`: how many requests of this user were added before."""
        had = self.bad_of.get(user, 0)
        self.users += not earlier
        self.requests += 1
        self.requests_squared += 2 * earlier + 1
        self.bad_times_requests += had
        if bad:
            self.bad += 1
            self.bad_times_requests += earlier + 1
            self.bad_squared += 2 * had + 1
            self.bad_of[user] = had + 1

    @property
    def share(self) -> float:
        return self.bad / self.requests if self.requests else 0.0

    def smoothed(self) -> SmoothedShare:
        size = self.requests / self.users if self.users else 1.0
        total = self.requests + 2 * size
        share = (self.bad + size) / total
        made_up = size * size * ((1 - share) ** 2 + share**2)
        residuals = self.bad_squared - 2 * share * self.bad_times_requests + share**2 * self.requests_squared + made_up
        return SmoothedShare(share, residuals / total**2)

    @property
    def effective_requests(self) -> float:
        """How many requests of users with one request each would tell as much; all of them, if these are such."""
        estimate = self.smoothed()
        return max(0.0, estimate.share * (1 - estimate.share) / estimate.variance - 2)
