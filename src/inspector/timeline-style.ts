/** How the timeline looks, in light and in dark. */
export const timelineStyle: string = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #8a94a0; --bad: #c62828; --mark: #6a1b9a;
  --acquiring: #ffe0a3; --waiting: #ffd0b0; --owning: #a8dcb5; --handingOff: #b3d4f5; --released: #c9ced4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #14171b; --soft: #78828e; --bad: #ff6b6b; --mark: #d9a6ff;
  --acquiring: #6b5320; --waiting: #6e4326; --owning: #245c36; --handingOff: #24476b; --released: #444b54; } }
body { background: var(--paper); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 1200px;
  padding: 0 1rem; }
h1 { font-size: 1.3rem; }
.violation { border-left: 4px solid var(--bad); padding: 0.4rem 0.8rem; font-weight: 600; }
.legend { color: var(--soft); max-width: 70ch; }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); pointer-events: none; }
.worker { font-weight: 700; font-size: 14px; }
.key, .time { fill: var(--soft); }
.key { text-anchor: end; }
.time { text-anchor: middle; }
.acquiring { fill: var(--acquiring); } .waiting { fill: var(--waiting); } .owning { fill: var(--owning); }
.handingOff { fill: var(--handingOff); } .released { fill: var(--released); }
rect { stroke: var(--paper); stroke-width: 1; }
.request circle { fill: var(--soft); stroke: var(--soft); }
.request.refused circle { fill: var(--paper); }
.request.unknown circle { fill: var(--bad); stroke: var(--bad); }
.wire { stroke: var(--soft); } .request.unknown .wire { stroke: var(--bad); stroke-dasharray: 3 3; }
.fault line { stroke: var(--bad); stroke-opacity: 0.5; } .fault circle { fill: var(--bad); }
.mark line { stroke: var(--mark); stroke-width: 2; } .mark path { fill: var(--mark); }
.tick { stroke: var(--soft); }
table { border-collapse: collapse; font: 12px/1.4 ui-monospace, monospace; }
td, th { padding: 0 0.8rem 0 0; text-align: left; vertical-align: top; }
td:first-child, th:first-child { text-align: right; }
tr.fault td { color: var(--bad); }
`
