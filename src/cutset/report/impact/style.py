"""The style sheet of the page of an impact: on light and on dark ground, wide and narrow, and on paper."""

STYLE = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1c2430;--muted:#5d6878;--line:#dde3ea;--soft:#f6f8fa;--bad:#d92d20;
--bad-soft:#fdecea;--good:#1a7f37;--good-soft:#e6f6ea;--open:#9a6700;--open-soft:#fdf3dc;--target:#7a3ec8;
--target-soft:#f1e9fc;--link:#1f6feb;--zone:#c9ecd2}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--ink:#e6edf3;--muted:#95a1b1;--line:#2b3442;--soft:#161d27;
--bad:#ff6b60;--bad-soft:#3a1715;--good:#4ac26b;--good-soft:#12301c;--open:#d8a33a;--open-soft:#2e2614;
--target:#b78cf5;--target-soft:#241a38;--link:#58a6ff;--zone:#1c4a2b}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:28px 28px 80px;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:23px;line-height:1.3;margin:2px 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:36px 0 10px}h3{font-size:15px;margin:16px 0 4px}
p{margin:6px 0}ul{margin:6px 0;padding-left:22px}li{overflow-wrap:anywhere}
code,pre{font:.87em/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:10px;overflow-x:auto;margin:6px 0}
a{color:var(--link)}summary{cursor:pointer;padding:3px 0}.muted,.small{color:var(--muted)}
.small{font-size:12.5px;line-height:1.4}
.affected{--own:var(--bad);--own-soft:var(--bad-soft)}.resilient{--own:var(--good);--own-soft:var(--good-soft)}
.cannot-tell{--own:var(--open);--own-soft:var(--open-soft)}.target{--own:var(--target);--own-soft:var(--target-soft)}
header{border-left:5px solid var(--own);background:var(--own-soft);border-radius:0 8px 8px 0;padding:14px 20px}
.verdict{margin:0;font-weight:700;color:var(--own)}
.sign{display:inline-block;width:1.35em;height:1.35em;line-height:1.35em;border-radius:50%;text-align:center;
background:var(--own);color:var(--ground);font-size:.85em}
.word{color:var(--own);font-weight:600}
.note{border-left:4px solid var(--open);background:var(--open-soft);border-radius:0 6px 6px 0;padding:7px 14px;
margin:10px 0}.note b{color:var(--open)}
.note.bad{border-color:var(--bad);background:var(--bad-soft)}.note.bad b{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(168px,1fr));gap:10px;margin:18px 0}
.tiles div{display:flex;flex-direction:column-reverse;justify-content:flex-end;border:1px solid var(--line);
border-radius:8px;padding:9px 14px}
.tiles dd{margin:0;font-size:24px;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums}
.tiles dt{color:var(--muted);font-size:13px;line-height:1.35}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{font-size:12.5px;font-weight:600;color:var(--muted);text-align:left;vertical-align:bottom}
th,td{padding:10px 10px 2px;vertical-align:top}thead th{padding-bottom:6px;vertical-align:bottom}
thead th,.why td{border-bottom:1px solid var(--line)}.why td{padding-top:0;padding-bottom:9px}
th:first-child,td:first-child{padding-left:0}th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}td.api{overflow-wrap:anywhere;min-width:290px}
.difference{width:236px;min-width:190px}.difference .small{text-align:center}
.tag{font-size:11px;border:1px solid var(--line);border-radius:9px;padding:0 7px;color:var(--muted)}
.up{color:var(--open)}
.scale{position:relative;height:22px;min-width:180px}.scale i{position:absolute}
.scale .margin,.key .margin{background:repeating-linear-gradient(135deg,var(--zone) 0 2px,transparent 2px 5px);
top:2px;bottom:2px}
.scale .zero{top:0;bottom:0;border-left:1px solid var(--muted)}
.scale .whisker{top:10px;height:2px;background:var(--own)}
.scale .whisker::before,.scale .whisker::after{content:"";position:absolute;top:-4px;height:10px;
border-left:2px solid var(--own)}.scale .whisker::before{left:0}.scale .whisker::after{right:0}
.scale .beyond-low::before,.scale .beyond-high::after{border:5px solid transparent;height:0;top:-4px}
.scale .beyond-low::before{border-right-color:var(--own);left:-6px}
.scale .beyond-high::after{border-left-color:var(--own);right:-6px}
.scale .dot{top:6px;width:10px;height:10px;margin-left:-5px;border-radius:50%;background:var(--own);
box-shadow:0 0 0 2px var(--ground)}
.cannot-tell .scale .dot{background:var(--ground);border:2px solid var(--own)}.resilient .scale .dot{border-radius:2px}
.affected .scale .dot{border-radius:1px;transform:rotate(45deg)}
.axis{font-weight:400;margin-top:4px;height:16px}
.axis span{position:absolute;bottom:0;transform:translateX(-50%)}
.axis .left{transform:none}.axis .right{transform:translateX(-100%)}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;font-size:13px}.key{display:inline-flex;align-items:center;gap:7px}
.key i{display:inline-block;width:22px;height:12px}
.key .dot{width:10px;height:10px;border-radius:50%;background:var(--muted)}
.key .whisker{height:9px;border:solid var(--muted);border-width:0 2px;
background:linear-gradient(var(--muted) 0 0) center/100% 2px no-repeat}
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:10px 0}
.picture svg{display:block;width:100%;height:auto;min-width:640px}
.picture.graph svg{width:auto;max-width:100%;margin:0 auto;min-width:560px}
.traces{columns:2;column-gap:28px;list-style:none;padding:0}.traces li{break-inside:avoid}
.settings{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:0}
.settings dt{color:var(--muted)}.settings dd{margin:0;overflow-wrap:anywhere}
@media (max-width:760px){
body{padding:14px 14px 60px}header{padding:12px 14px}h1{font-size:19px}
.tiles{grid-template-columns:1fr 1fr}.tiles dd{font-size:20px}
table.apis,.apis tbody{display:block}.apis thead{display:none}
.apis tr{display:grid;grid-template-columns:repeat(3,1fr);gap:2px 10px;padding:12px 0 3px}
.apis td{display:block;border:0;padding:0;text-align:left}
.apis tr.why{display:block;padding:0 0 10px;border-bottom:1px solid var(--line)}
.apis .api,.apis .difference{grid-column:1/-1;width:auto}.apis [data-name]::before{content:attr(data-name);
display:block;font-size:12px;color:var(--muted)}.apis [data-name=p95]{grid-column:1/3}
.traces{columns:1}.settings{grid-template-columns:1fr}.settings dd{margin-bottom:6px}}
@media print{.picture,tr,.note{break-inside:avoid}}
"""
