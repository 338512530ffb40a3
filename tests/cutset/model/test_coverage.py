from cutset.model.coverage import OutOfReach, Uncoverable, nothing_reached, with_agent_advice, with_name

CONVERT = Uncoverable("currency/Convert", OutOfReach.OTHER_TRACE, "checkout")
RATES = Uncoverable("GET /rates", OutOfReach.PAST_MESH, "checkout", "rates.example:443")
UNTOLD = Uncoverable("calls past the mesh", OutOfReach.UNTOLD, "cart, web")
REDIS = Uncoverable("redis", OutOfReach.DATA_STORE, "cart", "127.0.0.1:6379")


def test_why_a_call_is_out_of_reach_names_who_made_it_and_where_it_went():
    assert CONVERT.reason == "called by checkout without the trace context, so no plan reaches it"
    assert RATES.reason == "called by checkout at rates.example:443 past the mesh: no sidecar saw it"
    assert REDIS.reason == "called by cart at 127.0.0.1:6379 directly"
    assert UNTOLD.reason == "not known of cart, web, of which no spans of their own came"
    assert (
        Uncoverable("a/A", OutOfReach.WITHOUT_PLAN, "b", detail="none").reason == "called by b without the plan: none"
    )
    assert Uncoverable("a/A", OutOfReach.REFUSED).reason == (
        "called with a plan that its sidecar refused: key, environment or clock differ"
    )


def test_a_call_at_the_own_address_of_a_service_of_the_mesh_says_whose_it_is():
    names = {"rates.example:443": "rates#1"}

    assert with_name(RATES, names).reason == f"{RATES.reason}: that is the own address of rates#1"
    assert with_name(REDIS, names) == REDIS


def test_of_a_data_store_it_is_said_what_an_agent_would_do_or_does_not():
    assert with_agent_advice(REDIS, ()).detail == "an agent in cart would reach it: `cutset agent run`"
    assert with_agent_advice(REDIS, {"cart"}).detail == "the agent in cart has no hook for it"
    assert with_agent_advice(RATES, ()) == RATES


def test_a_data_store_that_is_called_directly_is_no_service_that_could_be_behind_the_mesh():
    assert [each.is_service for each in (CONVERT, RATES, REDIS, UNTOLD)] == [True, True, False, False]


def test_a_request_of_which_nothing_is_reached_names_what_it_was_seen_to_call():
    assert nothing_reached([REDIS, CONVERT]) == (
        "no call of it was seen that a plan reaches, so nothing was injected; "
        "seen were, in another trace: currency/Convert; data store: redis"
    )
    many = [Uncoverable(f"a/{number}", OutOfReach.OTHER_TRACE) for number in range(7)]
    assert nothing_reached(many).endswith("a/3, a/4 and 2 more calls")
    assert nothing_reached([]).endswith("if it makes some, they are not traced")
