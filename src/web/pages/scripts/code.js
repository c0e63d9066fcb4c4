// Comfort for pages of code: a range of lines in the address, copying, times of the reader's zone.

const RANGE = /^#L(\d+)(?:-L?(\d+))?$/;
const LINES_MAX = 100_000;

/** Marks the lines that the address names. */
function markLines() {
  for (const line of document.querySelectorAll(".code .marked")) line.classList.remove("marked");
  const [, from, to = from] = RANGE.exec(location.hash) ?? [];
  if (from === undefined) return;
  const [first, last] = [Number(from), Number(to)].toSorted((a, b) => a - b);
  for (let at = first; at <= Math.min(last, first + LINES_MAX); at++) {
    const line = document.getElementById(`L${at}`);
    if (!line) break;
    line.classList.add("marked");
    if (at === first && to !== from) line.scrollIntoView({ block: "center" });
  }
}

addEventListener("hashchange", markLines);
markLines();

let anchor = 0;
document.querySelector(".code")?.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#L']");
  if (!link) return;
  const line = Number(link.textContent);
  if (event.shiftKey && anchor > 0) {
    event.preventDefault();
    const [first, last] = [anchor, line].toSorted((a, b) => a - b);
    history.replaceState(null, "", `#L${first}-L${last}`);
    markLines();
  } else anchor = line;
});

for (const field of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(field.value).then(
      () => (button.textContent = "Copied"),
      () => field.select(),
    );
  });
  field.after(button);
}

const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
for (const time of document.querySelectorAll("time[title]")) {
  time.title = zoned.format(new Date(time.dateTime));
}
