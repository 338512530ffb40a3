"""Puts a mesh in front of services that run, and finds what breaks them: `python shop.py cutset.yaml`, then this."""

import secrets
import sys
from pathlib import Path

import cutset

key = secrets.token_hex(32).encode()  # faults happen only to requests that are signed with it
with cutset.run_mesh_file(Path("cutset.yaml"), key=key):
    campaign = cutset.explore("cutset.yaml", key=key)
for finding in campaign.findings:
    print(f"{finding.request} fails without {cutset.format_cut(finding.cut)}: {finding.outcome.reason}")
for request in campaign.summary.requests:
    print(f"{request.name}: complete up to size {request.complete_up_to}, {request.experiments} experiments")
sys.exit(cutset.exit_code(campaign.summary))
