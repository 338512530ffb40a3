"""How far a request reaches: into its tasks, its threads and what it leaves to thread pools."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from cutset_agent import request

FAULT = ("cache/redis/get", "timeout")


def planned(found):
    return found is not None and bool(found.plan)


def test_tasks_and_threads_work_for_the_request_that_began_them(installed):
    found = []

    async def main():
        with installed.request(FAULT):
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0)).add_done_callback(lambda _: found.append(request.current()))
            await asyncio.to_thread(lambda: found.append(request.current()))
            await asyncio.get_running_loop().run_in_executor(None, lambda: found.append(request.current()))
            thread = threading.Thread(target=lambda: found.append(request.current()))
            thread.start()
            thread.join()

    asyncio.run(main())
    assert len(found) == 4
    assert all(map(planned, found))


def test_a_thread_that_overrides_run_works_for_the_request_too(installed):
    class Worker(threading.Thread):
        def run(self):
            self.found = request.current()

    with installed.request(FAULT):
        worker = Worker()
        worker.start()
        worker.join()
    assert planned(worker.found)


def test_a_pools_worker_does_not_stay_with_its_first_request(installed):
    with ThreadPoolExecutor(1) as pool:
        with installed.request(FAULT):
            assert planned(pool.submit(request.current).result())
        assert pool.submit(request.current).result() is None
