"""Visits know the thread or the task that they are in."""

from tests.samples.hooked_program import Program


def test_visits_in_a_task_have_its_name(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import asyncio
            def act():
                return abs(-1)
            async def job():
                act()
            async def main():
                tasks = [asyncio.get_running_loop().create_task(job()) for _ in range(2)]
                tasks[0].set_name("first job")
                tasks[1].set_name("second job")
                asyncio.get_running_loop().call_soon(act)
                await asyncio.wait(tasks)
            act()
            asyncio.run(main())
        """,
    )
    program.run_hooked("main.py")
    names = [thread for text, _, _, _, thread in program.visits() if text == "abs"]
    assert names == ["MainThread", "first job", "second job", "MainThread"]
