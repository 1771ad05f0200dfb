"""Style and script of a page."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #565656; --page: #fff;
  --line: #d8d8d8; --band: #f5f5f5; --best: #00527f; --link: #00527f;
  --note: #eef5fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #adadad;
  --page: #16181b; --line: #3a3d42; --band: #202327; --best: #7cc7f2;
  --link: #7cc7f2; --note: #1b2a35; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1rem; max-width: 78rem; color: var(--ink);
  background: var(--page); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
p, li { max-width: 46rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
.lead { font-size: 1.15rem; border-left: .3rem solid var(--link);
  background: var(--note); padding: .7rem 1rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr);
  gap: .15rem 1rem; font-size: .9rem; max-width: 46rem; margin: 1rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
nav { margin: 1rem 0; font-size: .9rem; }
nav ul { margin: 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap;
  gap: .3rem 1.2rem; }
nav a { display: inline-block; padding: .2rem 0; overflow-wrap: anywhere; }
.scroll { position: relative; width: fit-content; max-width: 100%;
  overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
.about { color: var(--soft); font-size: .9rem; margin: .3rem 0 .6rem; }
table { border-collapse: separate; border-spacing: 0; font-size: .85rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; text-align: right; white-space: nowrap;
  border-top: 1px solid var(--line); vertical-align: top; }
thead th { vertical-align: bottom; white-space: normal; min-width: 4.5rem;
  border-top: 0; }
th:first-child, .words { text-align: left; }
.words.long { white-space: normal; min-width: 13rem; }
th:first-child { position: sticky; left: 0; z-index: 1; background: var(--page);
  font-weight: 600; white-space: normal; min-width: 6.5rem; max-width: 16rem;
  overflow-wrap: anywhere; border-right: 1px solid var(--line); }
tbody tr:nth-child(even) > * { background: var(--band); }
tfoot > tr > * { border-top: 2px solid var(--line); font-weight: 600; }
thead button { font: inherit; font-weight: 600; color: inherit; background: none;
  border: 0; padding: .15rem 0; cursor: pointer; text-align: inherit; }
thead button:hover { text-decoration: underline; }
thead button::after { content: " \\2195" / ""; color: var(--soft);
  display: inline-block; padding-left: .25em; }
th[aria-sort=ascending] button::after { content: " \\25B2" / ""; color: inherit; }
th[aria-sort=descending] button::after { content: " \\25BC" / ""; color: inherit; }
small { display: block; font-size: .9em; color: var(--soft); }
strong { color: var(--best); }
sup a { display: inline-block; padding: 0 .3em; }
.figures { display: grid; gap: 1rem 2rem; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); }
figure { margin: 0; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figure img { display: block; width: 100%; max-width: 29rem; height: auto; }
figure.wide img { max-width: 56rem; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .4rem;
  max-width: 46rem; }
details { font-size: .85rem; margin-top: .4rem; }
summary { cursor: pointer; padding: .25rem 0; color: var(--link); }
.notes, footer { color: var(--soft); font-size: .85rem; }
.notes li { margin: .25rem 0; }
footer { border-top: 1px solid var(--line); margin-top: 3rem; }
code { font-size: .95em; overflow-wrap: anywhere; }
@media (max-width: 40rem) { th:first-child { max-width: 8.5rem; }
  th, td { padding: .35rem .5rem; } }
@media print { nav, .skip, thead button::after { display: none; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .scroll { overflow: visible; border: 0; } table { font-size: 7.5pt; }
  th, td { padding: .15rem .3rem; } th:first-child { position: static; }
  .words.long, thead th, th:first-child { min-width: 0; }
  figure, tr, .lead { break-inside: avoid; } h2, h3 { break-after: avoid; } }
"""

SCRIPT = """
const said = document.getElementById("said");
for (const table of document.querySelectorAll("table")) {
  const heads = table.querySelectorAll("thead th");
  heads.forEach((head, column) => head.querySelector("button").onclick = () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = row => row.cells[column].dataset.value ?? "";
    const rows = [...body.rows];
    const areNumbers = rows.every(row => !isNaN(key(row)));
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = areNumbers ? x - y
        : x.localeCompare(y, "en", {numeric: true});
      return down ? -order : order;
    });
    body.append(...rows);
    said.textContent = `Sorted by ${head.querySelector("button").textContent}, `
      + (down ? "largest first." : "smallest first.");
  });
}
"""
"""Sorts; what has no value stays last in either order."""
