from pathlib import Path
from textwrap import dedent

import pytest
from tests.samples.campaign import choice

from cutset.campaign.settings import Limits, SearchChoice
from cutset.config.explore import Config, adjusted, load_config, load_mesh, load_place, plan_key
from cutset.errors import InputError, UsageError
from cutset.guards.settings import GuardSettings
from cutset.model.cluster import IstioPlace
from cutset.model.effect import Effect, EffectChoice, EffectKind
from cutset.model.impact import Matching, UserKey
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Expectation, Request, Response, Step
from cutset.model.target import Receiver, Target
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.search.strategy import Certificates
from cutset.store.runs import fingerprint

MESH = """
    entry: frontend
    edge_port: 8080
    collector: 127.0.0.1:4317
    services:
      frontend: {protocol: http, port: 9080, replicas: [127.0.0.1:5001, 127.0.0.1:5002]}
      cart: {protocol: grpc, replicas: [127.0.0.1:5003], retries: 0, timeout_seconds: 2, outlier_detection: true}
"""
MESH_SPEC = MeshSpec(
    entry="frontend",
    edge_port=8080,
    collector="127.0.0.1:4317",
    services=(
        MeshService("frontend", "http", ("127.0.0.1:5001", "127.0.0.1:5002"), port=9080),
        MeshService("cart", "grpc", ("127.0.0.1:5003",), retries=0, timeout_seconds=2.0, outlier_detection=True),
    ),
)
WITH_MESH = "requests: [{path: /}]\nmesh:" + MESH


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(content: str | bytes) -> Path:
        path = Path("cutset.yaml")
        path.write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
        return path

    return write_file


def refusal(path: Path, load=load_config) -> UsageError:
    with pytest.raises(UsageError) as caught:
        load(path)
    return caught.value


def test_a_full_file_is_read(write):
    path = write("""
        target:
          url: https://shop.test:9080
          environment: staging
          carriers: [jaeger]
          health: ["127.0.0.1:5001", "[::1]:5002"]
        collector: {host: 0.0.0.0, http_port: 1, grpc_port: 2}
        requests:
          - path: /
          - name: checkout
            method: POST
            path: /cart/checkout
            headers: {X-User: "{session}"}
            form: {email: a@b.c}
            setup:
              - {method: POST, path: /cart, json: {product: X, quantity: 1}}
              - {path: /cart, body: hi}
            expect:
              {status: [200, 302], keywords: [sorry], max_seconds: 5, text: [Thanks], json: {total: 19.99, "ids[]": a}}
        limits:
          {max_size: 2, parallel: 4, repeats: 1, flake_rate: 0.05, error_rate: 0.01, experiments: 7, rounds: 6,
           minutes: 1.5, trace_timeout: 0.5}
        search: {strategy: microfi, certificates: independent, across_requests: trust}
        effects: [delay(250ms)]
        points: replica
    """)
    checkout = Request(
        "checkout",
        Step("POST", "/cart/checkout", {"X-User": "{session}"}, form={"email": "a@b.c"}),
        setup=(Step("POST", "/cart", json={"product": "X", "quantity": 1}), Step("GET", "/cart", body="hi")),
        expect=Expectation(
            status=(200, 302),
            keywords=("sorry",),
            max_seconds=5.0,
            text=("Thanks",),
            json={"total": 19.99, "ids[]": "a"},
        ),
    )
    assert load_config(path) == Config(
        target=Target("https://shop.test:9080", "staging", ("jaeger",), ("127.0.0.1:5001", "[::1]:5002")),
        requests=(Request("GET /", Step("GET", "/")), checkout),
        collector=Receiver("0.0.0.0", 1, 2),
        limits=Limits(
            max_size=2,
            parallel=4,
            repeats=1,
            flake_rate=0.05,
            error_rate=0.01,
            experiments=7,
            rounds=6,
            minutes=1.5,
            trace_timeout=0.5,
        ),
        search=SearchChoice(StrategyName.MICROFI, Certificates.INDEPENDENT, AcrossRequests.TRUST),
        effects=EffectChoice((Effect(EffectKind.DELAY, 250),)),
        points="replica",
    )


def test_a_minimal_file_gets_the_defaults(write):
    config = load_config(write("{target: {url: 'http://127.0.0.1:9080'}, requests: [{path: /}]}"))
    assert config == Config(target=Target("http://127.0.0.1:9080"), requests=(Request("GET /", Step("GET", "/")),))


@pytest.mark.parametrize(
    ("limits", "failures"),
    [
        ("{}", 2),
        ("{flake_rate: 0.05}", 3),
        ("{flake_rate: 0.05, error_rate: 0.01}", 2),
        ("{flake_rate: 0}", 1),
        ("{repeats: 5, flake_rate: 0.05}", 5),
    ],
)
def test_how_many_failures_are_needed_follows_from_how_flaky_answers_are_unless_given(write, limits, failures):
    config = load_config(write(f"{{target: {{url: 'http://a.test'}}, requests: [{{path: /}}], limits: {limits}}}"))
    assert config.limits.failures_needed == failures


def test_no_limit_is_written_as_0(write):
    text = "{target: {url: 'http://a.test'}, requests: [{path: /}], limits: {experiments: 0, rounds: 0, minutes: 0}}"
    limits = load_config(write(text)).limits
    assert (limits.experiments, limits.rounds, limits.minutes) == (0, 0, 0)


def test_wrong_search_settings_are_answered_with_the_right_ones(write):
    path = write("""
        target: {url: "http://a.test"}
        requests: [{path: /}]
        search: {strategy: fastfy, certificates: lax, across: trust, across_requests: maybe}
        limits: {flake_rate: 0.6, error_rate: 0, rounds: -1, minutes: -2}
    """)
    strategies = "`cuts`, `fastfi`, `fastfi-repaired`, `microfi`, `intellifi` or `ldfi`"
    assert refusal(path).message.splitlines() == [
        "`cutset.yaml` has 8 problems:",
        "  `limits.flake_rate`: expected a share from 0 to 0.5, found 0.6",
        "  `limits.error_rate`: expected a share above 0 and below 1, found 0",
        "  `limits.rounds`: expected a whole number from 0 on, found -1",
        "  `limits.minutes`: expected minutes from 0 on, found -2",
        f'  `search.strategy`: expected {strategies}, found "fastfy"',
        '  `search.certificates`: expected `exact`, `independent` or `classes`, found "lax"',
        '  `search.across_requests`: expected `verify` or `trust`, found "maybe"',
        "  `search.across`: unknown key. Valid keys: `across_requests`, `certificates`, `strategy`",
    ]


def test_url_and_health_follow_from_the_mesh(write):
    config = load_config(write(WITH_MESH))
    assert config.mesh == MESH_SPEC
    health = ("127.0.0.1:5001", "127.0.0.1:5002", "127.0.0.1:5003")
    assert config.target == Target("http://127.0.0.1:9080", health=health)


def test_what_is_given_wins_over_what_follows_from_the_mesh(write):
    config = load_config(write("target: {url: 'http://a.test', health: [], environment: ci}\n" + WITH_MESH))
    assert config.target == Target("http://a.test", "ci", health=())
    assert config.mesh is not None
    assert config.mesh.environment == "ci"


def test_url_and_environment_follow_from_the_place_in_istio(write):
    config = load_config(write("requests: [{path: /}]\nistio: {namespaces: [shop, pay], gateway: edge/front}"))
    assert config.istio == IstioPlace(("shop", "pay"), gateway="edge/front")
    assert config.target == Target("http://front.edge:80", environment="shop")
    given = "requests: [{path: /}]\ntarget: {url: 'http://x:1', environment: e}\nistio: {namespaces: [shop]}"
    assert load_config(write(given)).target == Target("http://x:1", environment="e")


def test_a_mesh_file_and_a_mesh_section_are_the_same(write):
    assert load_mesh(write(MESH)) == MESH_SPEC
    assert load_mesh(write(WITH_MESH)) == MESH_SPEC


def test_all_problems_are_reported_at_once(write):
    path = write("""
        target: {enviroment: local, url: "ftp://x", carriers: [pigeon], health: [nowhere]}
        requests:
          - {path: cart, method: get, headers: {"a b": x, c: "é"}}
          - {path: /, expect: {status: ["200", 99], max_seconds: 0, keywords: error, json: {a: {size: 1}}}}
          - {pth: /}
          - {path: /, form: {quantity: 1}}
          - {path: /, form: {a: b}, json: {}}
        limits: {parallel: 0, repeats: "2", max_size: 1.5, trace_timeout: .nan, experiments: true}
        collector: {http_port: 65536}
        effects: [abort(9)]
        points: everywhere
        mesh:
          services:
            port: {protocol: http, replica: [127.0.0.1:1], replicas: []}
            b: {protocol: tcp, replicas: [127.0.0.1], port: -1, retries: -1, outlier_detection: 1}
    """)
    keys = (
        "Valid keys: `answers`, `body`, `command`, `descriptor`, `expect`, `form`, `grpc`, `headers`, `json`, "
        "`message`, `method`, `name`, `only`, `path`, `setup`, `source`, `url`, "
        "`websocket`, `workload`"
    )
    service_keys = (
        "`fallback`, `hedge_after_seconds`, `max_parallel`, `outlier_detection`, `port`, `protocol`, `replicas`, "
        "`retries`, `retry_budget_percent`, `timeout_seconds`"
    )
    assert refusal(path).message.splitlines() == [
        "`cutset.yaml` has 31 problems:",
        '  `requests[0].path`: expected a path that begins with `/` and has no spaces, found "cart"',
        '  `requests[0].method`: expected an HTTP method in capitals, found "get"',
        '  `requests[0].headers.a b`: expected the name of a header, found "a b"',
        '  `requests[0].headers.c`: expected printable ASCII, found "é"',
        '  `requests[1].expect.status[0]`: expected a whole number, found "200"',
        "  `requests[1].expect.status[1]`: expected an HTTP status from 100 to 599, found 99",
        '  `requests[1].expect.keywords`: expected a list, found "error"',
        "  `requests[1].expect.max_seconds`: expected seconds above 0, at most 3600, found 0",
        (
            "  `requests[1].expect.json.a`: expected a value, or conditions out of `is`, `is_not`, `present`, `type`, "
            "`count`, `at_least`, `at_most`, `matches`, found a mapping"
        ),
        f"  `requests[2].pth`: unknown key. Did you mean `path`? {keys}",
        "  `requests[3].form.quantity`: expected text, found 1 (put it in quotes)",
        "  `requests[4]`: has `form` and `json`, but a request has one body",
        '  `target.url`: expected a URL such as `http://127.0.0.1:9080`, found "ftp://x"',
        '  `target.carriers[0]`: expected `tracestate`, `baggage`, `jaeger`, `datadog` or `b3`, found "pigeon"',
        '  `target.health[0]`: expected `host:port`, found "nowhere"',
        (
            "  `target.enviroment`: unknown key. Did you mean `environment`? "
            "Valid keys: `carriers`, `environment`, `health`, `url`"
        ),
        "  `collector.http_port`: expected a port from 0 to 65535, found 65536",
        "  `limits.max_size`: expected a whole number, found 1.5",
        "  `limits.parallel`: expected a whole number from 1 on, found 0",
        '  `limits.repeats`: expected a whole number, found "2"',
        "  `limits.experiments`: expected a whole number, found true",
        "  `limits.trace_timeout`: expected seconds above 0, at most 3600, found NaN",
        '  `effects[0]`: expected an effect such as `abort(503)`, `delay(250ms)` or `timeout`, found "abort(9)"',
        '  `points`: expected `api` or `replica`, found "everywhere"',
        "  `mesh.services.port.replicas`: expected at least one replica, found an empty list",
        f"  `mesh.services.port.replica`: unknown key. Did you mean `replicas`? Valid keys: {service_keys}",
        '  `mesh.services.b.protocol`: expected `http` or `grpc`, found "tcp"',
        '  `mesh.services.b.replicas[0]`: expected `host:port`, found "127.0.0.1"',
        "  `mesh.services.b.port`: expected a port from 0 to 65535, found -1",
        "  `mesh.services.b.retries`: expected a whole number from 0 on, found -1",
        "  `mesh.services.b.outlier_detection`: expected true or false, found 1",
    ]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("", "`cutset.yaml` is empty", "It needs at least `requests`, or the `services` of a mesh"),
        ("# nothing", "`cutset.yaml` is empty", "It needs at least `requests`, or the `services` of a mesh"),
        ("- 1", "`cutset.yaml`: expected a mapping of keys to values, found a list", ""),
        ("hello", '`cutset.yaml`: expected a mapping of keys to values, found "hello"', ""),
        (
            b"a: caf\xe9",
            "`cutset.yaml`: expected UTF-8 text, found the byte 0xe9 at offset 6",
            "Save the file as UTF-8",
        ),
        ("a: \x01", "`cutset.yaml`: special characters are not allowed", "Correct the YAML there"),
        (
            "a:\n  b: [1",
            (
                "`cutset.yaml`, line 2, column 8: while parsing a flow sequence, "
                "expected ',' or ']', but got '<stream end>'"
            ),
            "Correct the YAML there",
        ),
        (
            "a: 1\nb: {c: 1, c: 2}",
            "`cutset.yaml`, line 2, column 11: the key `c` was given before, on line 2",
            "Correct the YAML there",
        ),
        (
            "on: 1",
            "`cutset.yaml`, line 1, column 1: the key `on` is not text: put it in quotes",
            "Correct the YAML there",
        ),
        ("requests: &a [*a]", "`cutset.yaml`: an alias (`*name`) contains itself", ""),
        ("points: api", "`cutset.yaml`, `requests`: required, but missing", ""),
        ("requests: []", "`cutset.yaml`, `requests`: expected at least one request, found an empty list", ""),
        ("requests: {path: /}", "`cutset.yaml`, `requests`: expected a list, found a mapping", ""),
        ("requests: [/]", '`cutset.yaml`, `requests[0]`: expected a mapping, found "/"', ""),
        (
            "requests: [{path: /, headers: []}]",
            "`cutset.yaml`, `requests[0].headers`: expected a mapping, found an empty list",
            "",
        ),
        ("requests: [{path: /}]\nlimits:", "`cutset.yaml`, `limits`: expected a mapping, found nothing", ""),
        (
            f"requests: [{{path: /, method: {'x' * 99}}}]",
            f'`cutset.yaml`, `requests[0].method`: expected an HTTP method in capitals, found "{"x" * 59}…',
            "",
        ),
        (
            "requests: [{path: /}, {path: /a}, {path: /}]",
            "`cutset.yaml`, `requests`: two are called `GET /`: give each a `name` of its own",
            "",
        ),
        (
            "requests: [{path: /}]",
            "`cutset.yaml`, `target.url`: required, but missing",
            "Say where experiments enter, or name the `entry` of the `mesh` and give that service a `port`",
        ),
        (
            (
                "requests: [{path: /}]\ntarget: {environment: a}\nmesh: {environment: b, entry: x, "
                "services: {x: {protocol: http, port: 1, replicas: ['h:1']}}}"
            ),
            "`cutset.yaml`, `target.environment`: `a` differs from `mesh.environment`, `b`",
            "The mesh ignores plans that were signed for another environment: leave one of the two out",
        ),
        (
            "requests: [{path: /}]\nistio: {namespaces: [shop]}",
            "`cutset.yaml`, `target.url`: required, but missing",
            "Say where experiments enter: `istio.gateway` as `namespace/service`, or `target.url`",
        ),
        (
            "requests: [{path: /}]\nistio: {namespaces: []}",
            "`cutset.yaml`, `istio.namespaces`: expected at least one namespace, found an empty list",
            "",
        ),
        (
            "requests: [{path: /}]\nistio: {namespaces: [shop], gateway: ingress}",
            '`cutset.yaml`, `istio.gateway`: expected `namespace/service`, found "ingress"',
            "",
        ),
        (
            "requests: [{path: /}]\nistio: {namespaces: [a]}\nmesh: {services: {x: {protocol: http, replicas: [h:1]}}}",
            "`cutset.yaml`: has `mesh` and `istio`, but a system is in one of them",
            "",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(write, content, message, hint):
    error = refusal(write(content))
    assert (error.message, error.hint) == (message, hint)


def test_spans_may_be_in_a_server_of_the_teams_own(tmp_path):
    file = tmp_path / "cutset.yaml"
    text = "target: {url: 'http://a:1'}\nrequests: [{path: /}]\ncollector: {%s}\n"
    file.write_text(text % "tempo: 'https://tempo:3200/base'")
    assert load_config(file).collector.server == "tempo+https://tempo:3200/base"
    file.write_text(text % "jaeger: 'http://j:1', tempo: 'http://t:1'")
    with pytest.raises(UsageError, match="looked up in one place"):
        load_config(file)


def test_the_key_of_a_place_in_istio_is_a_private_one(tmp_path):
    file = tmp_path / "cutset.yaml"
    file.write_text("istio: {namespaces: [shop], gateway: edge/gateway}\nrequests: [{path: /}]\n")
    with pytest.raises(UsageError, match="no private key for the environment `shop`"):
        plan_key(load_config(file), {"CUTSET_KEY": "k" * 32, "HOME": str(tmp_path)})
    file.write_text("target: {url: 'http://a:1'}\nrequests: [{path: /}]\n")
    assert plan_key(load_config(file), {"CUTSET_KEY": "k" * 32}) == b"k" * 32


def test_oracles_are_read_and_a_function_is_part_of_what_outcomes_depend_on(tmp_path: Path) -> None:
    (tmp_path / "oracle.py").write_text("def is_good(response):\n    return response.status == 200 or 'not 200'\n")
    file = tmp_path / "cutset.yaml"
    file.write_text(
        dedent("""\
        target: {url: http://127.0.0.1:9080}
        requests:
          - path: /
            expect:
              json: {order.total: {at_least: 1}, "items[*].price": {type: number}}
              header: {content-type: {matches: ^application/json}}
              matches: ['order [0-9]+']
              function: oracle.py:is_good
        """)
    )
    expect = load_config(file).requests[0].expect
    assert expect.json == {"order.total": {"at_least": 1}, "items[*].price": {"type": "number"}}
    assert expect.header == {"content-type": {"matches": "^application/json"}}
    assert expect.matches == ("order [0-9]+",)
    assert expect.function is not None
    assert expect.function.check is not None
    assert expect.function.check(Response(500)) == "not 200"
    before = fingerprint(requests=load_config(file).requests)
    (tmp_path / "oracle.py").write_text("def is_good(response):\n    return True\n")
    assert fingerprint(requests=load_config(file).requests) != before


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ("{matches: ['(']}", "expected a regular expression (unclosed group)"),
        ("{json: {a..b: 1}}", "expected a path such as `order.total`"),
        ("{header: {x: {type: text}}}", "expected `type` to be one of string"),
        ("{function: is_good}", "expected a function such as `tests/oracle.py:is_good`"),
        ("{function: none.py:is_good}", "there is no file"),
    ],
)
def test_what_is_no_oracle_is_refused(tmp_path: Path, expect: str, told: str) -> None:
    file = tmp_path / "cutset.yaml"
    file.write_text(f"target: {{url: http://127.0.0.1:9080}}\nrequests:\n  - {{path: /, expect: {expect}}}\n")
    with pytest.raises(UsageError) as raised:
        load_config(file)
    assert told in raised.value.message


def test_effects_that_are_asked_for_take_the_place_of_all_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cutset.yaml"
    file.write_text("target: {url: http://a}\nrequests: [{path: /}]\neffects: [empty]\neffects_at: {pay: [garbled]}\n")
    config = load_config(file)

    assert adjusted(config).effects == config.effects
    assert adjusted(config, effects=["abort(503)", "timeout"]).effects == choice("abort(503)", "timeout")
    with pytest.raises(InputError, match="`timout` is not an effect"):
        adjusted(config, effects=["timout"])


def test_whoever_brings_requests_of_their_own_needs_none_in_the_file(write):
    path = write("mesh:" + MESH)

    assert load_place(path).requests == ()
    assert load_place(path).mesh == load_mesh(path) == MESH_SPEC
    assert load_place(write(WITH_MESH)) == load_config(write(WITH_MESH))


def test_answers_are_kept_unless_somebody_says_no(tmp_path):
    file = tmp_path / "cutset.yaml"
    text = "target: {url: http://a}\nrequests: [{path: /}]\n"

    file.write_text(text)
    assert load_config(file).keep_answers
    file.write_text(f"{text}keep_answers: false\n")
    assert not load_config(file).keep_answers


def test_stores_are_known_by_address(tmp_path):
    file = tmp_path / "cutset.yaml"
    file.write_text("target: {url: http://a}\nrequests: [{path: /}]\nstores: {sessions: '127.0.0.1:6379'}\n")

    assert load_config(file).target.stores == {"127.0.0.1:6379": "sessions"}


def test_a_store_without_a_port_is_refused(tmp_path):
    file = tmp_path / "cutset.yaml"
    file.write_text("target: {url: http://a}\nrequests: [{path: /}]\nstores: {sessions: redis}\n")

    with pytest.raises(UsageError, match=r"stores\.sessions"):
        load_config(file)


def test_sections_impact_and_guards_are_the_settings_of_impacts_and_of_the_brake(write):
    config = load_config(
        write("""
            target: {url: http://127.0.0.1:1}
            requests: [{path: /}]
            impact:
              rate: 30
              ramp: [0.1, 1, 5]
              before: 20
              matching: {method: GET, path: /cart/**, headers: {x-beta: "1"}}
              user: {cookie: session}
            guards: {error_rate: 0.02, hours: Mon-Fri 09:00-17:00}
        """)
    )
    assert (config.impact.rate, config.impact.ramp, config.impact.before) == (30, (0.1, 1, 5), 20)
    assert config.impact.matching == Matching("GET", "/cart/**", {"x-beta": "1"})
    assert config.impact.user == UserKey(cookie="session")
    assert config.guards == GuardSettings(error_rate=0.02, hours="Mon-Fri 09:00-17:00")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("impact: {rate: 0.3}", "`impact.rate`: expected a whole number, found 0.3"),
        ("impact: {rate: 0}", "`impact.rate`: expected a whole percentage from 1 to 100, found 0"),
        ("impact: {shares: 5}", "`impact.shares`"),
        ("impact: {share: 80}", "a share of 80 % and a control of equal size"),
        ("guards: {hours: weekdays}", "`guards.hours`: expected hours such as"),
    ],
)
def test_a_wrong_value_of_an_impact_or_a_guard_is_named_with_its_place(write, section, message):
    path = write(f"target: {{url: http://127.0.0.1:1}}\nrequests: [{{path: /}}]\n{section}\n")
    assert message in refusal(path).message
