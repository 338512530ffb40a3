import json
from pathlib import Path
from textwrap import dedent

import pytest

from cutset.errors import InputError
from cutset.model.request import Step
from cutset.workload.sources.openapi import openapi_requests
from cutset.workload.sources.proposal import ProposedRequest

SHOP = """
    openapi: 3.0.3
    info: {title: Shop, version: "1"}
    servers: [{url: "https://{region}.shop.test/v1", variables: {region: {default: eu}}}]
    security: [{token: []}]
    paths:
      /products:
        get:
          summary: All  products
          security: []
          parameters:
            - {name: page, in: query, schema: {type: integer}}
            - {name: kind, in: query, required: true, schema: {enum: [tea, coffee]}}
            - {name: X-Shop, in: header, required: true, example: eu}
      /products/{id}:
        parameters:
          - $ref: "#/components/parameters/Id"
        get:
          operationId: getProduct
        delete: {}
      /orders/{order}/items/{item}:
        get:
          parameters:
            - {name: order, in: path, required: true, schema: {type: string, format: uuid}}
            - {name: item, in: path, required: true, schema: {type: integer, minimum: 5}}
            - {name: sid, in: cookie, required: true, schema: {default: abc}}
      /orders:
        post:
          requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}}
        put:
          requestBody: {content: {application/x-www-form-urlencoded: {example: {a: 1, b: x}}}}
    components:
      parameters:
        Id: {name: id, in: path, required: true, examples: {one: {value: 6E 92}}}
      securitySchemes:
        token: {type: http, scheme: bearer}
      schemas:
        Thing: {type: object, required: [name], properties: {name: {type: string, minLength: 3}}}
        Order:
          allOf: [{$ref: "#/components/schemas/Thing"}]
          required: [lines, parent]
          properties:
            lines: {type: array, minItems: 1, items: {type: object, required: [n], properties: {n: {type: number}}}}
            parent: {$ref: "#/components/schemas/Order"}
            note: {type: string}
"""


def proposed(tmp_path: Path, text: str) -> dict[str, ProposedRequest]:
    path = tmp_path / "openapi.yaml"
    path.write_text(dedent(text))
    return {each.request.name: each for each in openapi_requests(path)}


def test_operations_have_the_values_that_the_file_gives_and_secrets_of_the_environment(tmp_path):
    found = proposed(tmp_path, SHOP)
    token = {"authorization": "Bearer ${API_TOKEN}"}
    assert found["GET /v1/products"].request.step == Step("GET", "/v1/products?kind=tea", {"x-shop": "eu"})
    assert found["GET /v1/products"].about == "All products"
    assert found["GET /v1/products/{id}"].request.step == Step("GET", "/v1/products/6E%2092", token)
    assert (found["GET /v1/products/{id}"].doubt, found["GET /v1/products/{id}"].held_back) == ("", "")


def test_values_that_are_guessed_are_named(tmp_path):
    found = proposed(tmp_path, SHOP)["GET /v1/orders/{order}/items/{item}"]
    assert found.request.step.path == "/v1/orders/00000000-0000-4000-8000-000000000001/items/5"
    assert found.request.step.headers["cookie"] == "sid=abc"
    assert found.doubt == "guessed: order, item"


def test_what_writes_is_held_back_and_has_what_it_must_have(tmp_path):
    found = proposed(tmp_path, SHOP)
    order = found["POST /v1/orders"]
    assert (order.held_back, order.doubt) == ("it writes", "guessed: body")
    assert order.request.step.json["name"] == "1xx"
    assert order.request.step.json["lines"] == [{"n": 1}]
    assert found["PUT /v1/orders"].request.step.form == {"a": "1", "b": "x"}
    assert found["DELETE /v1/products/{id}"].held_back == "it writes"


def test_json_is_read_too(tmp_path):
    document = {"openapi": "3.1.0", "paths": {"/": {"get": {}}}}
    assert list(proposed(tmp_path, json.dumps(document))) == ["GET /"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("swagger: '2.0'\npaths: {}", "is of Swagger 2.0; Cutset reads OpenAPI 3"),
        ("openapi: 4.0.0\npaths: {/: {}}", "is of OpenAPI 4.0.0; Cutset reads version 3"),
        ("title: Shop", "is no OpenAPI file: it has no `openapi: 3.…`"),
        ("openapi: 3.0.0", "paths: expected at least one path"),
        ("openapi: 3.0.0\npaths: [1]", "paths: expected at least one path"),
        ("- 1", "is no OpenAPI file: expected a mapping"),
        ('{"openapi": "3.0.0", "pa', "is neither JSON nor YAML"),
        ("openapi: [", "cannot be read"),
        (
            "openapi: 3.0.0\npaths: {/: {get: {parameters: {a: b}, security: 7}}}",
            "paths./.get: not as OpenAPI 3 has it",
        ),
    ],
)
def test_what_is_no_openapi_3_is_told(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        proposed(tmp_path, text)
    assert message in caught.value.message


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="Cannot read"):
        openapi_requests(tmp_path / "none.yaml")
