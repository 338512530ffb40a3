"""Visits know how far the log was."""

from tests.samples.hooked_program import Program


def test_visits_know_their_occurrence_thread_and_log_lines(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import logging, sys, threading, work
            logging.basicConfig(level=logging.INFO)
            work.act()
            logging.info("one")
            logging.debug("not shown")
            logging.warning("two")
            thread = threading.Thread(target=work.act, name="worker é")
            thread.start()
            thread.join()
        """,
        work="""
            def act():
                return abs(-1)
        """,
    )
    hooked = program.run_hooked("main.py")
    assert hooked.stderr == program.run("main.py").stderr
    assert program.visits() == [("abs", 1, 0, 0, "MainThread"), ("abs", 2, 2, 0, "worker é")]
