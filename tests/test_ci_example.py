"""The workflow for GitHub Actions uses commands and options that exist, on the example configuration."""

import re
from pathlib import Path
from typing import Any

import yaml

from cutset.config.explore import load_config, load_mesh
from cutset.report.campaign.markdown import MARKER

ROOT = Path(__file__).parent.parent
WORKFLOW = ROOT / "examples" / "ci" / "github-actions.yml"


def steps() -> list[dict[str, Any]]:
    (job,) = yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)["jobs"].values()  # `on` is text there
    return list(job["steps"])


def test_the_workflow_compares_with_a_baseline_and_publishes() -> None:
    """That all options of all examples exist is in `tests/cutset/cli/test_main_in_docs.py`."""
    (command,) = (step["run"] for step in steps() if "cutset explore" in step.get("run", ""))

    assert {"--against", "--junit", "--sarif", "--html", "--markdown"} <= set(re.findall(r"--[a-z-]+", command))


def test_what_is_published_is_what_was_written_even_if_something_was_found() -> None:
    after = steps()[[step.get("name") for step in steps()].index("Explore") + 1 :]

    assert all(step["if"].startswith("always()") for step in after)
    inputs = {value for step in after for value in step.get("with", {}).values()}
    assert {"code-scanning.sarif", "junit.xml"} <= inputs


def test_a_pull_request_gets_one_comment_and_one_from_a_fork_the_summary_alone() -> None:
    named = {step.get("name"): step for step in steps()}
    summary, comment = named["Tell it on the page of this run"], named["Tell it on the pull request"]

    assert "GITHUB_STEP_SUMMARY" in summary["run"]
    assert "head.repo" not in summary["if"]
    assert "head.repo.full_name == github.repository" in comment["if"]
    assert MARKER in comment["run"]
    assert "PATCH" in comment["run"]
    assert "${{" not in comment["run"]  # what others wrote is no part of a script


def test_the_page_is_kept_with_the_run() -> None:
    (upload,) = (step for step in steps() if step.get("uses", "").startswith("actions/upload-artifact"))

    assert "report.html" in upload["with"]["path"].split()


def test_the_services_are_started_where_the_example_configuration_expects_them() -> None:
    (script,) = (step["run"] for step in steps() if "cutset mesh up" in step.get("run", ""))
    mesh = load_mesh(ROOT / "examples" / "cutset.yaml")

    ports = {address.rpartition(":")[2] for service in mesh.services for address in service.replicas}
    assert set(re.findall(r"\.py (\d+)", script)) == ports
    assert f":{mesh.edge_port}/" in script
    assert load_config(ROOT / "examples" / "cutset.yaml").mesh == mesh


def test_the_guide_shows_a_baseline_that_can_be_read(tmp_path: Path) -> None:
    from cutset.config.baseline import load_baseline

    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "how-to" / "ci.md").read_text(), re.DOTALL)
    (tmp_path / "baseline.yaml").write_text(text)

    assert [each.finding.id for each in load_baseline(tmp_path / "baseline.yaml")] == ["4006342a"]
