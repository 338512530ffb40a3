from cutset.manifests.owners import owners_of

RESOURCE = {
    "metadata": {
        "managedFields": [
            {"manager": "helm", "fieldsV1": {"f:spec": {"f:http": {}, "f:hosts": {}}}},
            {"manager": "kubectl", "fieldsV1": {"f:spec": {"f:trafficPolicy": {"f:tls": {"f:mode": {}}}}}},
            {"manager": "istiod", "fieldsV1": {"f:status": {}}},
        ]
    }
}


def test_who_owns_a_list_owns_all_that_is_in_it() -> None:
    assert owners_of(RESOURCE, "spec.http[3].retries.attempts") == ["helm"]


def test_who_owns_a_field_is_known_by_its_path() -> None:
    assert owners_of(RESOURCE, "spec.trafficPolicy.tls.mode") == ["kubectl"]
    assert owners_of(RESOURCE, "spec.trafficPolicy.outlierDetection") == []
    assert owners_of({"metadata": {}}, "spec") == []
