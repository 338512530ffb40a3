"""Families of threads, as contexts end with them (`Threads.java`)."""

import subprocess
from collections.abc import Callable
from pathlib import Path

FAMILIES = {
    # The runtime gives numbers: any thread of a pool may be at work.
    "main": "main",
    "Thread-12": "Thread-*",
    "Timer-0": "Timer-*",
    "pool-3-thread-1": "pool-*-thread-*",
    "ForkJoinPool-1-worker-13": "ForkJoinPool-*-worker-*",
    "ForkJoinPool.commonPool-worker-2": "ForkJoinPool.commonPool-worker-*",
    "orders-executor-thread-4": "orders-executor-thread-*",
    "nioEventLoopGroup-2-3": "nioEventLoopGroup-*-*",
    "qtp1495161082-25": "qtp*-*",
    "qtp35984-25-acceptor-0@6e1f23-Server": "qtp*-*-acceptor-0@*-Server",
    "NIOWorkerThread-2": "NIOWorkerThread-*",
    "IPC Server handler 3 on default port 41377": "IPC Server handler * on default port *",
    "": "virtual",
    # The program gives numbers to its parts.
    "SyncThread:3": "SyncThread:3",
    "QuorumPeer[myid=1](plain=/127.0.0.1:11222)(secure=disabled)": "QuorumPeer[myid=1]",
    "main-SendThread(127.0.0.1:2181)": "main-SendThread",
    "ReplicaFetcherThread-0-1": "ReplicaFetcherThread-*-1",
    # The system does, and chance.
    "LearnerHandler-/127.0.0.1:49162": "LearnerHandler-/127.0.0.1:*",
    "acceptor-/127.0.0.1:2181": "acceptor-/127.0.0.1:2181",
    "DataXceiver for client DFSClient_NONMAPREDUCE_-1954893034_1": "DataXceiver for client DFSClient_NONMAPREDUCE_*_1",
    "DataXceiver for client DFSClient_NONMAPREDUCE_1954893034_1": "DataXceiver for client DFSClient_NONMAPREDUCE_*_1",
    "BP-1053175612-10.0.0.202": "BP-*-10.0.0.202",
    "org.example.Recovery$1@1bd8740f": "org.example.Recovery$1@*",
    "org.example.Recovery$1@50c1b3a": "org.example.Recovery$1@*",
    "orders@3": "orders@*",
    "lease 0f8fad5b-d9cb-469f-a165-70867728950e": "lease *",
    "deadbeef cafe": "deadbeef cafe",
}


def test_what_is_another_in_the_next_run_is_no_part_of_a_family(jar: Path, compiled: Callable[..., Path]):
    classes = compiled("families", "-cp", str(jar))
    command = ["java", "-cp", f"{classes}:{jar}", "cutset.jvm.agent.Families"]
    told = subprocess.run([*command, *FAMILIES], capture_output=True, text=True, check=True).stdout.splitlines()
    assert dict(zip(FAMILIES, told, strict=True)) == FAMILIES


def test_files_of_the_run_are_no_part_of_a_family(jar: Path, compiled: Callable[..., Path], tmp_path: Path):
    command = ["java", "-cp", f"{compiled('families', '-cp', str(jar))}:{jar}", "cutset.jvm.agent.Families"]
    named = [f"refresh-{tmp_path}/data/1", "/config/changes-thread"]
    told = subprocess.run([*command, *named], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["refresh-*", "/config/changes-thread"]


def test_which_thread_of_an_executor_it_is_is_no_part_of_a_family(jar: Path, compiled: Callable[..., Path]):
    command = ["java", "-cp", f"{compiled('families', '-cp', str(jar))}:{jar}", "cutset.jvm.agent.Executors"]
    told = subprocess.run([*command, "shop-utility-2", "sync:3"], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["@shop-utility-*", "@sync:3", "@my shop-utility-2", "@my sync:3"]
