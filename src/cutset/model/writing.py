"""How calls of data stores and brokers that change something are called: by the verb of SQL, or by their method."""

SQL_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "UPSERT", "COPY", "CALL"})

# A regular expression. What only changes a cache is not among them.
WRITE_METHODS = (
    r"commit|copy|executemany|(?:insert|update|delete|replace|bulk_write|find_one_and|create|drop)\w*"
    r"|(?:basic_)?publish|produce|send\w*|(?:POST|PUT|PATCH|DELETE) .*"
)
