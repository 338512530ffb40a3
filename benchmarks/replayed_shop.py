"""How much of recorded traffic succeeds again, as it was and with templates (CAST §4.1), against a shop that is strict.

The shop refuses stale times, used keys, expired tokens, foreign orders; its clock is put back while it is recorded. A
password, which no answer tells, is given by a rule, as a user would.
"""

import asyncio
import json
from typing import Any

from tests.samples.strict_shop import PASSWORD, PASSWORD_RULE, Shop, recorded_visits, replayed, total

from cutset.workload.templates.template import templates_of, verbatim

VISITS = 20


def measure() -> dict[str, Any]:
    async def scenario() -> dict[str, Any]:
        shop = Shop()
        templates = templates_of(await recorded_visits(shop, visits=VISITS), (PASSWORD_RULE,))
        values = {"SHOP_PASSWORD": PASSWORD}
        naive = total(await replayed(shop, [verbatim(template) for template in templates], values))
        templated = total(await replayed(shop, templates, values))
        return {
            "replay_naive": round(naive[0] / naive[1], 4),
            "replay_templated": round(templated[0] / templated[1], 4),
            "replay_requests": naive[1],
        }

    return asyncio.run(scenario())


if __name__ == "__main__":
    print(json.dumps(measure()))
