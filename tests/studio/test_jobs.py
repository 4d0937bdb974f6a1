"""The queue of jobs: limits, cancel, what is shared and what is forgotten, and what a child may do."""

from __future__ import annotations

import errno
import json
import multiprocessing
import time
from pathlib import Path

import pytest

from rankwise.exceptions import RankwiseFormatError
from rankwise.studio import worker
from rankwise.studio.jobs import JobQueue
from rankwise.studio.problems import Problem
from rankwise.studio.projects import Project, StoredFile
from rankwise.studio.settings import Settings
from tests.studio.children import child
from tests.studio.running import CSV, PRELOAD, TOKEN, end_of, is_alive, wait_until


@pytest.fixture
def make_queue(tmp_path):
    queues = []

    def make(target=child, **settings):
        queue = JobQueue(Settings(tmp_path, TOKEN, preload=PRELOAD, **settings), target)
        queue.start()
        queues.append(queue)
        return queue

    yield make
    for queue in queues:
        queue.close()


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "stored.csv"
    path.write_bytes(CSV)
    return Project("p", "drinks.csv", "survey", [StoredFile("data", "drinks.csv", path, len(CSV), "digest")])


def test_ten_jobs_at_once_run_two_at_a_time_and_all_end(make_queue, project, tmp_path):
    queue = make_queue(max_running=2)
    gate = tmp_path / "gate"
    jobs = [queue.submit(project, "data", {"number": n, "do": "wait", "for": str(gate)}) for n in range(10)]
    wait_until(lambda: sum(job.step == "waiting" for job in jobs) == 2)
    assert [job.state for job in jobs] == ["running"] * 2 + ["waiting"] * 8
    gate.touch()
    most = 0
    while not all(job.has_ended for job in jobs):
        most = max(most, sum(job.state == "running" for job in jobs))
        time.sleep(0.005)
    assert [job.state for job in jobs] == ["done"] * 10
    assert most <= 2
    texts = [json.loads(job.as_json())["result"]["blocks"][0]["text"] for job in jobs]
    assert len(set(texts)) == 10


def test_a_queue_that_is_full_says_so(make_queue, project):
    queue = make_queue(max_running=1, max_waiting=2)
    running = queue.submit(project, "data", {"do": "sleep"})
    wait_until(lambda: running.state == "running")
    waiting = [queue.submit(project, "data", {"do": "sleep", "number": number}) for number in range(2)]
    with pytest.raises(Problem, match="2 jobs are waiting") as refused:
        queue.submit(project, "data", {"number": 3})
    assert refused.value.status_code == 429
    assert queue.submit(project, "data", {"do": "sleep", "number": 1}) is waiting[1]  # it waits already
    queue.cancel(waiting[0])
    assert waiting[0].state == "cancelled"
    assert queue.submit(project, "data", {"number": 3}).state == "waiting"


def test_a_child_that_is_killed_is_a_failed_job_and_the_next_one_runs(make_queue, project):
    queue = make_queue()
    job = queue.submit(project, "data", {"do": "die"})
    assert end_of(job) == "failed"
    assert job.error["error"].startswith("The job ended without a word")
    assert end_of(queue.submit(project, "data", {"do": "work"})) == "done"
    again = queue.submit(project, "data", {"do": "die"})
    assert again is not job
    assert end_of(again) == "failed"


def test_a_job_has_a_time_limit(make_queue, project):
    queue = make_queue(time_limit=0.5)
    job = queue.submit(project, "data", {"do": "sleep"})
    assert end_of(job) == "failed"
    assert job.error["error"] == "The job took longer than 0.5 seconds."
    assert "--time-limit" in job.error["cure"]


def test_cancel_kills_the_child_and_what_it_started(make_queue, project):
    queue = make_queue()
    job = queue.submit(project, "data", {"do": "parent"})
    wait_until(lambda: job.step.isdigit())
    own, started = job.process.pid, int(job.step)
    assert is_alive(own)
    assert is_alive(started)
    queue.cancel(job)
    wait_until(lambda: not is_alive(own) and not is_alive(started))
    assert job.state == "cancelled"
    queue.cancel(job)  # once more does nothing
    assert job.state == "cancelled"


def test_close_kills_all_children(make_queue, project):
    queue = make_queue()
    jobs = [queue.submit(project, "data", {"do": "sleep", "number": number}) for number in range(3)]
    wait_until(lambda: sum(job.step == "sleeping" for job in jobs) == 2)
    pids = [job.process.pid for job in jobs if job.process is not None]
    queue.close()
    assert len(pids) == 2
    wait_until(lambda: not any(map(is_alive, pids)))


def test_the_same_view_is_made_once_and_kept(make_queue, project):
    queue = make_queue()
    job = queue.submit(project, "data", {"a": 1, "b": 2})
    assert queue.submit(project, "data", {"b": 2, "a": 1}) is job
    assert end_of(job) == "done"
    assert queue.submit(project, "data", {"a": 1, "b": 2}) is job
    twin = Project("q", "drinks.csv", "survey", project.files)
    other = queue.submit(twin, "data", {"a": 1, "b": 2})
    assert (other.state, other.project) == ("done", "q")
    for changed in (
        Project("q", "other.csv", "survey", project.files),
        Project("q", "drinks.csv", "survey", project.files, {"seed": 1}),
        Project("q", "drinks.csv", "survey", [StoredFile("data", "drinks.csv", Path("x"), 1, "other digest")]),
    ):
        assert queue.submit(changed, "data", {"a": 1, "b": 2}).out != job.out


def test_what_was_used_longest_ago_makes_room(make_queue, project):
    queue = make_queue(max_cache=200, max_running=1)
    jobs = [queue.submit(project, "data", {"number": number}) for number in range(5)]
    assert [end_of(job) for job in jobs] == ["done"] * 5
    wait_until(lambda: len(list(queue.cache.glob("*.json"))) < 5)
    assert jobs[-1].out.exists()
    assert json.loads(jobs[0].as_json())["error"]["error"] == "The result was removed to save room."
    again = queue.submit(project, "data", {"number": 0})
    assert again is not jobs[0]
    assert end_of(again) == "done"


def test_ended_jobs_are_forgotten_in_time(make_queue, project):
    queue = make_queue(max_jobs=3)
    for number in range(8):
        assert end_of(queue.submit(project, "data", {"number": number})) == "done"
    assert len(queue._jobs) <= 4
    assert len(queue._newest) == len(queue._jobs)


def test_a_job_that_fails_leaves_nothing_behind(make_queue, project):
    queue = make_queue()
    job = queue.submit(project, "data", {"do": "fail"})
    assert end_of(job) == "failed"
    assert job.error == {"error": "It cannot be done.", "cure": "Do something else.", "choices": []}
    wait_until(lambda: not any(queue.cache.iterdir()))


def test_a_child_may_not_take_all_memory(make_queue, project):
    queue = make_queue(_hungry, memory_limit=200 * 2**20)
    job = queue.submit(project, "data", {})
    assert end_of(job) == "failed"
    assert job.error["error"] == "The job needs more memory than it may take."


def _hungry(task, connection):
    worker._made = lambda task, on_step: {"blocks": [str(len(bytearray(2**30)))]}
    worker.work(task, connection)


def test_a_result_may_not_be_endless(make_queue, project):
    queue = make_queue(_wordy, max_result=10_000)
    job = queue.submit(project, "data", {})
    assert end_of(job) == "failed"
    assert job.error["error"] == "The disk is full, or the result is too large."
    wait_until(lambda: not any(queue.cache.iterdir()))


def _wordy(task, connection):
    worker._made = lambda task, on_step: {"blocks": ["x" * 100_000]}
    worker.work(task, connection)


def test_a_child_ends_when_the_server_is_gone(make_queue, tmp_path):
    ours, theirs = multiprocessing.Pipe()
    task = {"folder": str(tmp_path), "out": str(tmp_path / "out.json"), "memory": 2**32, "written": 2**20}
    process = multiprocessing.get_context("forkserver").Process(target=_sleepy, args=(task, theirs), daemon=True)
    process.start()
    theirs.close()
    assert process.is_alive()
    ours.close()
    process.join(120)
    assert process.exitcode == 1


def _sleepy(task, connection):
    worker._made = lambda task, on_step: time.sleep(60)
    worker.work(task, connection)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RankwiseFormatError("line is odd", line=3), "Line 3: line is odd."),
        (ValueError("nothing to rank"), "Nothing to rank."),
        (MemoryError(), "The job needs more memory than it may take."),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full, or the result is too large."),
        (KeyError("x"), "Unexpected problem: KeyError: 'x'"),
    ],
)
def test_errors_of_a_child_in_a_sentence(error, said, capsys):
    told = worker.error_of(error)
    assert set(told) == {"error", "cure", "choices"}
    assert told["error"] == said
    assert bool(capsys.readouterr().err) == said.startswith("Unexpected")
