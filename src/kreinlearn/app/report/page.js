// A click on a column head sorts; what has no value stays last in either order.
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
// A table wider than its frame says so, and fades out where more of it is hidden.
function cue(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  box.parentElement.classList.toggle("over", box.scrollLeft < hidden - 1);
  box.nextElementSibling.hidden = hidden <= 1;
}
const sizes = new ResizeObserver(seen => seen.forEach(each => cue(each.target)));
for (const box of document.querySelectorAll(".scroll")) {
  sizes.observe(box);
  box.onscroll = () => cue(box);
}
// On paper, nothing can be opened.
addEventListener("beforeprint", () =>
  document.querySelectorAll("details").forEach(each => { each.open = true; }));
