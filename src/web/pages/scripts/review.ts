/**
 * The script of the changes of a pull request: the form for a comment comes in its place, for the
 * lines that a reader clicks or drags over, and files are marked as viewed without leaving.
 */

/** A line of a file, by the name of its cell: `diff-…R12`. */
interface Line {
  readonly cell: HTMLElement;
  /** The name of the file's place. */
  readonly file: string;
  readonly side: string;
  readonly number: number;
}

const template = document.querySelector<HTMLTemplateElement>("#code-template");

/** The line where a range begins. */
let rangeStart: Line | undefined;
let isDragging = false;

function lineAt(target: EventTarget | null): Line | undefined {
  const cell = (target as Element | null)?.closest<HTMLElement>(".diff td[id]");
  const [, file, side, number] = /^(diff-[0-9a-f]{40})([LR])(\d+)$/.exec(cell?.id ?? "") ?? [];
  if (!cell || file === undefined || side === undefined) return undefined;
  return { cell, file, side, number: Number(number) };
}

const isSameSide = (a: Line, b: Line): boolean => a.file === b.file && a.side === b.side;

/** The rows of a range that are shown. */
function rowsOf(from: Line, to: Line): HTMLTableRowElement[] {
  const [first, last] = [from.number, to.number].toSorted((a, b) => a - b);
  const rows: HTMLTableRowElement[] = [];
  for (let at = first ?? 0; at <= (last ?? 0); at++) {
    const row = document.getElementById(`${from.file}${from.side}${at}`)?.closest("tr");
    if (row) rows.push(row);
  }
  return rows;
}

function select(rows: readonly HTMLTableRowElement[]): void {
  for (const row of document.querySelectorAll(".diff tr.selected"))
    row.classList.remove("selected");
  for (const row of rows) row.classList.add("selected");
}

/** The form, with what was typed in it; a new one where there is none. */
function takeForm(): HTMLFormElement | undefined {
  const present = document.querySelector<HTMLFormElement>("form#code-form");
  if (!present) {
    const fragment = template && document.importNode(template.content, true);
    return fragment?.querySelector("form") ?? undefined;
  }
  const row = present.closest("tr.below");
  present.remove();
  if (row?.querySelector("td")?.childElementCount === 0) row.remove();
  return present;
}

function fill(form: HTMLFormElement, values: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement) field.value = String(value);
  }
  const { line = 0, side } = values;
  const lines = form.querySelector<HTMLElement>(".lines");
  const words = lines?.querySelector("span");
  if (!lines || !words) return;
  lines.hidden = line === 0;
  words.textContent = `to ${line}${side === "L" ? " of the old file" : ""}`;
  lines.querySelector("input")?.setAttribute("max", String(line));
  const link = form.querySelector<HTMLElement>("[data-suggest]");
  if (link) link.hidden = line === 0 || side === "L";
}

/** Opens the form below the last line of a range. */
function openAtLines(from: Line, to: Line): void {
  const last = from.number > to.number ? from : to;
  const row = last.cell.closest("tr");
  const path = last.cell.closest(".diff-file")?.getAttribute("aria-label");
  const form = row && path != null ? takeForm() : undefined;
  if (!row || path == null || !form) return;
  const rows = rowsOf(from, to);
  const first = Math.min(from.number, to.number);
  const [line, side] = [last.number, last.side];
  fill(form, { replied: 0, path, side, line, start_line: first });
  form.dataset["place"] = `${last.file}${side}`;
  const below = document.createElement("tr");
  below.className = "below";
  const cell = below.insertCell();
  cell.colSpan = row.closest(".split") ? 4 : 3;
  cell.append(form);
  row.after(below);
  select(rows);
  history.replaceState(null, "", `#${last.cell.id}`);
  form.querySelector("textarea")?.focus();
}

/** Opens the form in a conversation, or at a file as a whole. */
function openAt(place: Element, values: Readonly<Record<string, string | number>>): void {
  const form = takeForm();
  if (!form) return;
  fill(form, { line: 0, start_line: 0, side: "R", path: "", replied: 0, ...values });
  select([]);
  place.append(form);
  form.querySelector("textarea")?.focus();
}

/** The text of a new line, without what the page remarks about it. */
function textOf(row: HTMLTableRowElement): string {
  const cell = row.cells[row.cells.length - 1]?.cloneNode(true) as HTMLElement | undefined;
  for (const note of cell?.querySelectorAll(".soft") ?? []) note.remove();
  return cell?.textContent ?? "";
}

/** Puts a suggestion for the lines of the form into its text; all of them must be shown. */
function suggest(form: HTMLFormElement, place: string): void {
  const text = form.querySelector("textarea");
  const from = form.querySelector<HTMLInputElement>("[name=start_line]");
  const to = form.querySelector<HTMLInputElement>("[name=line]");
  if (!text || !from || !to) return;
  const numbers = Array.from(
    { length: Math.max(0, Number(to.value) - from.valueAsNumber + 1) },
    (_, at) => from.valueAsNumber + at,
  );
  const rows = numbers.flatMap((at) => document.getElementById(place + at)?.closest("tr") ?? []);
  const isShown = rows.length > 0 && rows.length === numbers.length;
  from.setCustomValidity(isShown ? "" : "Not all of these lines are shown: unfold them first.");
  from.reportValidity();
  from.setCustomValidity("");
  if (!isShown) return;
  select(rows);
  const lines = rows.map(textOf);
  const fence = lines.some((line) => line.includes("```")) ? "`````" : "```";
  const before = text.value === "" || text.value.endsWith("\n") ? text.value : `${text.value}\n`;
  text.value = `${before}${fence}suggestion\n${lines.join("\n")}\n${fence}\n`;
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
}

/** Marks a file as viewed, or not, and folds it. */
async function mark(box: HTMLButtonElement): Promise<void> {
  const form = box.form;
  if (!form) return;
  const fields = new FormData(form);
  fields.set(box.name, box.value);
  const isViewed = box.name === "view";
  const pairs = [...fields].flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : [],
  );
  const answer = await fetch(form.getAttribute("action") ?? "", {
    method: "POST",
    body: new URLSearchParams(pairs),
    redirect: "manual",
  }).catch(() => undefined);
  if (answer?.type !== "opaqueredirect") {
    form.requestSubmit(box);
    return;
  }
  box.name = isViewed ? "unview" : "view";
  box.setAttribute("aria-checked", String(isViewed));
  const details = box.closest(".diff-file")?.querySelector("details");
  if (details) details.open = !isViewed;
  const count = document.getElementById("viewed-count");
  const [, viewed = "", rest = ""] = /^(\d+)( .*)$/.exec(count?.textContent ?? "") ?? [];
  if (count) count.textContent = `${Number(viewed) + (isViewed ? 1 : -1)}${rest}`;
}

document.addEventListener("click", (event) => {
  const target = event.target as Element;
  if (event.ctrlKey || event.metaKey) return;
  const box = target.closest<HTMLButtonElement>("button.viewed");
  const form = target.closest<HTMLFormElement>("form#code-form");
  const line = target.closest("a") && lineAt(target);
  const reply = target.closest<HTMLElement>("a[data-reply]");
  const file = target.closest<HTMLElement>("a[data-comment]");
  if (box) void mark(box);
  else if (form && target.closest("[data-cancel]")) {
    const row = form.closest("tr.below");
    form.remove();
    if (row?.querySelector("td")?.childElementCount === 0) row.remove();
    select([]);
  } else if (form && target.closest("[data-suggest]") && form.dataset["place"] !== undefined) {
    suggest(form, form.dataset["place"]);
  } else if (line && template) {
    const from = event.shiftKey && rangeStart && isSameSide(rangeStart, line) ? rangeStart : line;
    if (!event.shiftKey) rangeStart = line;
    openAtLines(from, line);
  } else if (reply && template) {
    const thread = reply.closest(".thread");
    if (thread) openAt(thread, { replied: reply.dataset["reply"] ?? "" });
  } else if (file && template) {
    const details = file.closest(".diff-file")?.querySelector("details");
    if (!details) return;
    details.open = true;
    const above = details.querySelector(".above") ?? document.createElement("div");
    above.className = "above";
    details.querySelector("summary")?.after(above);
    openAt(above, { path: file.dataset["comment"] ?? "" });
  } else return;
  event.preventDefault();
});

// A range is dragged from one number to another.
document.addEventListener("dragstart", (event) => {
  if (template && lineAt(event.target)) event.preventDefault();
});
document.addEventListener("pointerdown", (event) => {
  const line = event.pointerType === "mouse" && template ? lineAt(event.target) : undefined;
  isDragging = line !== undefined;
  if (line && !event.shiftKey) rangeStart = line;
});
document.addEventListener("pointerover", (event) => {
  const line = isDragging ? lineAt(event.target) : undefined;
  if (rangeStart && line && isSameSide(rangeStart, line)) select(rowsOf(rangeStart, line));
});
document.addEventListener("pointerup", (event) => {
  const line = isDragging ? lineAt(event.target) : undefined;
  isDragging = false;
  // On the same line it is a click.
  if (rangeStart && line && line.cell !== rangeStart.cell && isSameSide(rangeStart, line))
    openAtLines(rangeStart, line);
});
