import itertools
import socket

from cutset_demo.ports import HOST, free_port


def test_a_port_for_later_can_be_listened_on_and_is_given_to_nobody_else():
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
    for port in ports:
        socket.create_server((HOST, port)).close()


def test_of_two_who_begin_at_the_same_place_neither_is_given_what_the_other_was(monkeypatch):
    chosen = []
    for _ in range(2):  # as two processes do
        monkeypatch.setattr("cutset_demo.ports._next_ports", itertools.count(7_000))
        chosen += [free_port() for _ in range(20)]
    assert len(set(chosen)) == len(chosen)


def test_what_another_process_chose_and_what_is_listened_on_is_left_alone(monkeypatch):
    chosen = free_port()
    with socket.create_server((HOST, chosen + 1)):
        monkeypatch.setattr("cutset_demo.ports._next_ports", iter(range(chosen - 15_000, 15_000)))
        assert free_port() > chosen + 1
