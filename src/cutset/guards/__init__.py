"""The brake: what may end all injection at any instant, and who watches for reasons to pull it."""
