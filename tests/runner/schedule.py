# SPDX-License-Identifier: BSD-3-Clause
"""Which tests run side by side.

  works   keeps a core busy, or several ranks share it: as many at once as the machine has cores
  waits   sleeps most of its time: three times as many at once, beside those that work
  alone   would measure the others, or be measured by them: one by one, when all others have ended
"""
import concurrent.futures
import queue

WORKS, WAITS, ALONE = "works", "waits", "alone"
WAITING_A_CORE = 3


class Job:
    """One test to run: run() gives its Results."""

    def __init__(self, name, manner, run):
        self.name, self.manner, self.run = name, manner, run


def in_turn(jobs):
    for job in jobs:
        yield from job.run()


def side_by_side(jobs, cores):
    """Results as they come.  An error of the runner itself ends all."""
    pools = {WORKS: concurrent.futures.ThreadPoolExecutor(cores), WAITS: concurrent.futures.ThreadPoolExecutor(WAITING_A_CORE * cores)}
    ready = queue.SimpleQueue()
    together = [job for job in jobs if job.manner != ALONE]
    try:
        for job in together:
            pools[job.manner].submit(job.run).add_done_callback(ready.put)
        for _ in together:
            yield from ready.get().result()
    finally:
        for pool in pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
    yield from in_turn(job for job in jobs if job.manner == ALONE)
