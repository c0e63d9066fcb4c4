/**
 * The script of pages of code: marks the lines that the address names, `#L10-L24`. A click on a
 * line's number with Shift extends the range to it.
 */
const RANGE = /^#L(\d+)(?:-L?(\d+))?$/;

function markLines(): void {
  for (const line of document.querySelectorAll(".code .marked")) line.classList.remove("marked");
  const [, from, to = from] = RANGE.exec(location.hash) ?? [];
  if (from === undefined) return;
  const [first = 0, last = 0] = [Number(from), Number(to)].toSorted((a, b) => a - b);
  for (let at = first; at <= last; at++) {
    const line = document.getElementById(`L${at}`);
    if (!line) break;
    line.classList.add("marked");
    // A browser finds no element for a range.
    if (at === first && to !== from) line.scrollIntoView({ block: "center" });
  }
}

/** The line that was clicked last, where a range begins. */
let start: number | undefined;

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest(".code a[href^='#L']");
  if (!link) return;
  const line = Number(link.textContent);
  start ??= Number(RANGE.exec(location.hash)?.[1] ?? line);
  if (!(event as MouseEvent).shiftKey || start === line) {
    start = line;
    return;
  }
  event.preventDefault();
  const [first, last] = [start, line].toSorted((a, b) => a - b);
  history.replaceState(null, "", `#L${first}-L${last}`);
  markLines();
});

addEventListener("hashchange", markLines);
markLines();
