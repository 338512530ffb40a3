"""What brokers' hooks share: messages that a service pulls, and bodies that arrive damaged."""

import asyncio

import pytest
from tests.cutset_agent.conftest import plan_headers

from cutset_agent import request
from cutset_agent.hooks.brokers.messages import DAMAGES, begin_pulled, end_pulled


def pull(*faults):
    begin_pulled(plan_headers(*faults), dict.items, "mq/small/handle", lambda _: "orders")
    return request.current()


def test_a_pulled_message_is_handled_until_the_next_is_pulled(installed):
    first = pull()
    assert first is not None
    second = pull()
    assert second is not first
    end_pulled()
    end_pulled()  # there is none any more
    assert request.current() is None
    handled = installed.spans("mq/small/handle")
    assert [(span["kind"], span["spanId"]) for span in handled] == [(5, first.span_id), (5, second.span_id)]


def test_a_message_without_a_plan_ends_the_one_before(installed):
    assert pull() is not None
    begin_pulled({}, dict.items, "mq/small/handle", lambda _: "orders")
    assert request.current() is None
    assert len(installed.spans("mq/small/handle")) == 1
    end_pulled()


def test_tasks_pull_for_themselves(installed):
    async def consume():
        pulled = pull()
        await asyncio.sleep(0)
        return pulled is request.current()

    async def main():
        return await asyncio.gather(consume(), consume())

    assert asyncio.run(main()) == [True, True]


@pytest.mark.parametrize("fault", DAMAGES)
def test_a_damaged_body_is_another_one(fault):
    body = b'{"order": 17}'
    assert DAMAGES[fault](body) != body
