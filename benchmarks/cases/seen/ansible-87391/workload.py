"""Two plays over twelve machines: one collects facts, in two steps, and keeps them in files; the next one uses them."""
import os
import subprocess
import sys
from pathlib import Path

import wl

MACHINES = 12
COLLECT = """
- hosts: fleet
  gather_facts: false
  tasks:
    - name: Note the rack
      ansible.builtin.set_fact:
        rack: "{{ 'r' ~ (inventory_hostname | hash('md5'))[:2] }}"
        cacheable: true
    - name: Note the role
      ansible.builtin.set_fact:
        role: web
        cacheable: true
"""
DEPLOY = """
- hosts: fleet
  gather_facts: false
  tasks:
    - name: Deploy where the facts say
      ansible.builtin.debug:
        msg: "{{ role }} in rack {{ rack }}"
"""
SETTINGS = {
    "ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": "facts", "ANSIBLE_HOME": "ansible",
    "ANSIBLE_FORKS": "1", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_STRATEGY": "linear", "LC_ALL": "C.UTF-8",
}


def play(name: str, text: str) -> int:
    Path(f"{name}.yml").write_text(text)
    command = [sys.executable, "-m", "ansible", "playbook", "-i", "fleet.ini", f"{name}.yml"]
    code = subprocess.run(command, env={**os.environ, **SETTINGS}, stdin=subprocess.DEVNULL, check=False).returncode
    print(f"=== {name} ended with {code}", flush=True)
    return code


machines = [f"web{number:02}" for number in range(MACHINES)]
Path("fleet.ini").write_text("[fleet]\n" + "\n".join(machines) + "\n[fleet:vars]\nansible_connection=local\n")
collected = play("collect", COLLECT)
deployed = play("deploy", DEPLOY)
kept = sorted(path.name for path in Path("facts").glob("web*"))
wl.report(collected=collected, deployed=deployed, facts=len(kept), machines=MACHINES)
wl.finish()
