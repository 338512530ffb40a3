"""Runs `cutset harden`: decides, changes the mesh if asked to, verifies, and reports."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from cutset.app.explore import open_laboratory
from cutset.app.mesh import change_running_mesh, first_version
from cutset.app.report import read_campaign
from cutset.cli.harden_decision import best_choice, odds_of, posed_problem
from cutset.cli.harden_knowledge import Knowledge, gather, with_mesh
from cutset.cli.harden_live import as_explored, audit_all, explore_again, observe, reinject, with_timing
from cutset.cli.harden_write import write_manifests
from cutset.cli.run import run_async
from cutset.config.explore import Config, load_config, load_mesh
from cutset.config.harden import HardenChoice, Objective, load_harden
from cutset.config.key import signing_key
from cutset.config.yaml import read_yaml
from cutset.errors import UsageError
from cutset.harden.frontier import frontier
from cutset.harden.mesh_settings import mesh_settings
from cutset.harden.problem import Candidate, Choice, Level, Problem
from cutset.harden.remedies.evidence import Evidence
from cutset.harden.remedies.registry import advise
from cutset.harden.verification import Verification, compared, new_degradations
from cutset.manifests.istio import istio_manifests
from cutset.manifests.mesh_file import merge_settings
from cutset.model.advice import Advice
from cutset.model.event import CampaignEvent
from cutset.model.mesh import MeshSpec
from cutset.model.outcome import Verdict
from cutset.model.point import Point
from cutset.model.summary import summarise
from cutset.report.hardening.plot import frontier_svg
from cutset.report.hardening.terminal import Applied, Hardening, Site, to_document, to_lines


@dataclass(frozen=True, slots=True)
class HardenOptions:
    campaign: str
    budget: float
    level: Level
    objective: Objective
    high: tuple[str, ...]
    cost: Path | None
    write: Path | None
    plot: Path | None
    apply: bool
    verify: bool
    known_only: bool
    config_file: Path
    mesh_file: Path | None
    as_json: bool
    store: Path


@dataclass(frozen=True, slots=True)
class _Decision:
    known: Knowledge
    problem: Problem
    best: Choice
    wishes: HardenChoice


def run_harden(options: HardenOptions) -> int:
    """Prints what was found; returns the exit code."""
    wishes = load_harden(options.cost, options.config_file)
    explored = read_campaign(options.store, options.campaign)
    campaign = explored.id
    known = gather(campaign, explored.events, options.store, wishes)
    if not known.findings:
        raise UsageError(f"Campaign `{campaign}` has no findings: there is nothing to harden")
    problem = posed_problem(known, wishes, options.level, options.high)
    best = best_choice(problem, options.budget, options.objective, known, wishes)
    decision = _Decision(known, problem, best, wishes)
    mesh_file = options.mesh_file or _mesh_file(options.config_file)
    evidence = with_mesh(known.evidence, load_mesh(mesh_file) if mesh_file else None)
    applied: Applied | None = None
    verification: Verification | None = None
    if options.apply or options.verify:
        if options.apply and mesh_file is None:
            raise UsageError("There is no mesh.yaml to change", hint="Name it with `--mesh`")
        config = as_explored(load_config(options.config_file), known.summary.started)
        session = _session(decision, config, evidence, mesh_file, apply=options.apply, verify=options.verify)
        evidence, applied, verification = run_async(session)
        if verification and not options.known_only:
            events = explore_again(config, signing_key(os.environ), options.store, campaign)
            verification = _with_news(verification, known, events)
    sites = _sites(decision, evidence)
    found = Hardening(
        campaign=campaign,
        level=options.level,
        objective=options.objective,
        problem=problem,
        choice=best,
        frontier=frontier(problem),
        sites=sites,
        odds=odds_of(known, wishes, problem, best),
        written=tuple(_write(sites, options.write)),
        applied=applied,
        verification=verification,
    )
    if options.plot:
        options.plot.write_text(frontier_svg(found.frontier, budget=options.budget))
    _print(found, as_json=options.as_json)
    return _exit_code(verification)


async def _session(
    decision: _Decision,
    config: Config,
    evidence: Mapping[Point, Evidence],
    mesh_file: Path | None,
    *,
    apply: bool,
    verify: bool,
) -> tuple[dict[Point, Evidence], Applied | None, Verification | None]:
    """All in one laboratory: what a good answer is, it learns before the mesh changes."""
    findings = decision.known.findings
    async with open_laboratory(config, signing_key(os.environ)) as laboratory:
        await audit_all(laboratory, config.requests)
        before = await observe(laboratory, config, findings if verify else ())
        timed = with_timing(evidence, before)
        applied = None
        if apply and mesh_file is not None:
            applied = await asyncio.to_thread(_apply, decision, timed, mesh_file)
        if not verify:
            return timed, applied, None
        # Also gives the stand-in of a fallback something to remember.
        after = await observe(laboratory, config, findings) if apply else before
        gone = _expected_gone(decision, load_mesh(mesh_file) if mesh_file else None, only_mesh=apply)
        rechecks = await reinject(laboratory, config, findings, gone)
    efforts = (before.efforts, after.efforts) if apply else ({}, after.efforts)
    return timed, applied, Verification(rechecks, before=efforts[0], after=efforts[1])


def _apply(decision: _Decision, evidence: Mapping[Point, Evidence], mesh_file: Path) -> Applied:
    settings, left_out = mesh_settings(_advice(_sites(decision, evidence)), evidence)
    merged = merge_settings(mesh_file.read_text(), settings)
    if merged.added:
        change_running_mesh(mesh_file, merged.text)
    undo = f"cp {first_version(mesh_file)} {mesh_file}" if merged.added else ""
    return Applied(merged.added, merged.kept, tuple(left_out), undo)


def _expected_gone(decision: _Decision, mesh: MeshSpec | None, *, only_mesh: bool) -> frozenset[str]:
    """The findings that are mitigated by what is hardened: after `--apply`, by what the mesh has a fallback for."""
    stood_in = {
        str(Point(service.name, api)) for service in (mesh.services if mesh else ()) for api in service.fallback
    }
    chosen = frozenset() if only_mesh else frozenset(each.name for each in decision.best.chosen)
    hardened = {
        index
        for index, each in enumerate(decision.problem.candidates)
        if each.already or each.name in chosen or str(Point.parse(each.name).of_api) in stood_in
    }
    return frozenset(each.finding for each in decision.problem.weaknesses if each.mitigated_by(hardened))


def _with_news(verification: Verification, known: Knowledge, events: Sequence[CampaignEvent]) -> Verification:
    after = summarise(events)
    new, grown = compared(known.findings, after.findings)
    degraded = [
        [finding for request in summary.requests for finding in request.degradations]
        for summary in (known.summary, after)
    ]
    return replace(
        verification, new_cuts=new, grown_cuts=grown, new_degradations=new_degradations(*degraded), explored=True
    )


def _sites(decision: _Decision, evidence: Mapping[Point, Evidence]) -> tuple[Site, ...]:
    return tuple(_site(candidate, evidence, decision.wishes) for candidate in decision.best.chosen)


def _site(candidate: Candidate, evidence: Mapping[Point, Evidence], wishes: HardenChoice) -> Site:
    site = Point.parse(candidate.name)
    own = replace(evidence[site.of_api], site=site)
    advice, declined = advise(own)
    wish = wishes.apis.get(candidate.name) or wishes.apis.get(str(site.of_api))
    if wish and wish.fallback:
        wanted = {"fallback": {site.api: wish.fallback}}
        advice = [replace(each, settings=wanted) if each.survives_outage else each for each in advice]
    return Site(candidate, own.breaks, tuple(advice), tuple(declined))


def _advice(sites: Sequence[Site]) -> dict[Point, Sequence[Advice]]:
    return {Point.parse(site.candidate.name): site.advice for site in sites}


def _mesh_file(config_file: Path) -> Path | None:
    beside = config_file.with_name("mesh.yaml")
    if config_file.exists() and "mesh" in read_yaml(config_file):
        return config_file
    return beside if beside.exists() else None


def _write(sites: Sequence[Site], folder: Path | None) -> list[str]:
    return [] if folder is None else [str(file) for file in write_manifests(folder, istio_manifests(_advice(sites)))]


def _print(found: Hardening, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(to_document(found), indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in to_lines(found):
        console.print(line)


def _exit_code(verification: Verification | None) -> int:
    if verification is None:
        return 0
    if any(each.outcome.verdict is Verdict.FAILED for each in verification.disappointments) or verification.new_cuts:
        return 1
    return 3 if verification.disappointments else 0
