"""What to do at a call site that is worth hardening: one file per remedy, each advised from evidence or declined."""
