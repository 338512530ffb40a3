import psycopg


def end_connections(stores, client):
    """As a restart of the database does to all connections of the service."""
    assert client.get("/products/4711").status_code == 200
    with psycopg.connect(stores.settings("broken").postgres, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pooled_products%' "
            "AND pid <> pg_backend_pid()"
        ).fetchall()
    assert ended


def test_a_kept_connection_stays_broken(start, stores):
    client = start("stale-pool", "broken")
    end_connections(stores, client)
    assert [client.get("/products/4711").status_code for _ in range(20)] == [503] * 20


def test_a_pool_replaces_broken_connections(start, stores, eventually):
    client = start("stale-pool", "correct")
    end_connections(stores, client)
    eventually(lambda: client.get("/products/4711").status_code == 200)
    assert [client.get("/products/4711").status_code for _ in range(20)].count(200) >= 18  # others may break once too
