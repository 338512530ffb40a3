from cutset_demo import methods
from cutset_demo.boutique_pb2 import DESCRIPTOR
from cutset_demo.methods import Method


def test_every_message_of_a_method_is_one_of_the_proto_file_and_no_name_is_there_twice():
    every = [value for value in vars(methods).values() if isinstance(value, Method)]

    messages = set(DESCRIPTOR.message_types_by_name)
    assert {kind.DESCRIPTOR.name for method in every for kind in (method.request, method.reply)} <= messages
    assert len({method.full_name for method in every}) == len(every)
    assert all(method.full_name.startswith("hipstershop.") for method in every)
