// What scrolls sideways can be reached by the keyboard, and nothing else is.
function mark() {
  for (const each of document.querySelectorAll(
    "pre, .table-wrapper, div.math, article p:has(> img), .sphx-glr-script-out"
  )) {
    if (each.scrollWidth > each.clientWidth + 1) each.setAttribute("tabindex", "0");
    else each.removeAttribute("tabindex");
  }
}
addEventListener("load", mark);
addEventListener("resize", mark);
document.addEventListener("DOMContentLoaded", mark);
