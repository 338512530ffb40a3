from cutset.inject.istio.rights import FROM_OUTSIDE, RIGHTS, AccessPlaces, AccessQuestion, questions, role_resources

PLACES = AccessPlaces(("shop", "pay"), ("istio-ingress",))


def allowed() -> set[tuple[str, str, str, str]]:
    """Namespace, group, resource and verb of all that the roles give."""
    return {
        (each["metadata"].get("namespace", ""), group, resource, verb)
        for each in role_resources(PLACES)
        for rule in each.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_nobody_may_run_commands_in_pods_or_read_secrets() -> None:
    resources = {resource for _, _, resource, _ in allowed()}
    assert not {each for each in resources if "exec" in each or "attach" in each or "*" in each}
    # A campaign in the cluster has a Secret of its own there: it is written, and never read.
    secrets = {(namespace, verb) for namespace, _, resource, verb in allowed() if "secret" in resource}
    assert secrets == {("cutset", "create"), ("cutset", "patch"), ("cutset", "delete")}
    assert not {verb for _, _, _, verb in allowed()} & {"*", "impersonate", "bind", "escalate", "deletecollection"}


def test_mesh_config_and_our_own_namespace_are_the_only_ones_of_their_kind_that_are_changed() -> None:
    for each in role_resources(PLACES):
        for rule in each.get("rules", ()):
            if {"configmaps", "namespaces"} & set(rule["resources"]) and {"update", "patch", "delete"} & set(
                rule["verbs"]
            ):
                assert rule["resourceNames"] in (["istio"], ["cutset"])


def test_pods_and_deployments_of_others_are_never_changed() -> None:
    changed = {
        (namespace, resource)
        for namespace, _, resource, verb in allowed()
        if verb not in ("get", "list") and resource in ("pods", "deployments", "services")
    }
    assert changed == {("cutset", "deployments"), ("cutset", "services")}


def test_the_roles_give_exactly_what_is_asked_for() -> None:
    asked = list(questions(PLACES))
    assert len(allowed()) == len({(each.namespace, each.kind, each.subresource, each.verb) for each in asked})
    assert len(asked) > 100


def test_a_role_is_bound_where_it_holds() -> None:
    found = role_resources(PLACES, "robot", "ci")
    kinds = [(each["kind"], each["metadata"].get("namespace", "")) for each in found]
    assert kinds[:2] == [("ClusterRole", ""), ("ClusterRoleBinding", "")]
    assert {namespace for kind, namespace in kinds if kind == "RoleBinding"} == {
        "shop",
        "pay",
        "istio-ingress",
        "cutset",
        "istio-system",
    }
    bindings = [each for each in found if each["kind"].endswith("Binding")]
    assert all(
        each["subjects"] == [{"kind": "ServiceAccount", "name": "robot", "namespace": "ci"}] for each in bindings
    )


def test_questions_may_be_of_some_commands_only() -> None:
    some = list(questions(PLACES, ["cutset explore"]))
    assert {each.command for each in some} == {"every command", "cutset explore"}
    assert {each.command for each in questions(PLACES)} == {right.command for right in RIGHTS}


def test_a_question_reads_as_one_says_it() -> None:
    assert str(AccessQuestion("x", "patch", "EnvoyFilter", "shop")) == "patch envoyfilters.networking.istio.io in shop"
    assert str(AccessQuestion("x", "create", "Pod", "shop", "portforward")) == "create pods/portforward in shop"
    assert (
        str(AccessQuestion("x", "get", "ConfigMap", "istio-system", name="istio"))
        == "get configmaps `istio` in istio-system"
    )


def test_where_the_namespace_is_given_nobody_needs_to_make_or_delete_one() -> None:
    kinds = {
        (each.kind, each.verb) for each in questions(AccessPlaces(("shop",), given=True)) if each.kind == "Namespace"
    }
    assert kinds == {("Namespace", "get")}


def test_mesh_config_of_a_revision_has_a_name_of_its_own() -> None:
    places = AccessPlaces(("shop",), mesh_configs=("istio", "istio-canary"))
    assert {each.name for each in questions(places) if each.kind == "ConfigMap"} == {"istio", "istio-canary"}


def test_from_outside_no_secret_is_touched_and_no_role_is_made() -> None:
    found = role_resources(PLACES, commands=FROM_OUTSIDE)
    resources = {name for each in found for rule in each.get("rules", ()) for name in rule["resources"]}
    assert not {"secrets", "roles", "rolebindings", "clusterroles", "clusterrolebindings", "jobs"} & resources
    assert "envoyfilters" in resources
