/**
 * The script of a conversation: as long as its tab is shown, it asks whether something has changed,
 * and puts in new entries, what texts have become, and what stands around them. What the reader is
 * typing or has opened stays as it is.
 */
import { localize } from "./common/localize.ts";

/** Milliseconds between two questions: they grow while nothing happens. */
const PAUSE_MIN = 10_000;
const PAUSE_MAX = 300_000;
const GROWTH = 1.5;

const news = document.querySelector<HTMLElement>("[data-version]");
const path = news?.dataset["path"] ?? "";
let version = news?.dataset["version"] ?? "";
let pause = PAUSE_MIN;
let timer: ReturnType<typeof setTimeout> | undefined;

function wait(): void {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(() => void ask(), pause);
  pause = Math.min(pause * GROWTH, PAUSE_MAX);
}

async function ask(): Promise<void> {
  const headers = { "If-None-Match": `"${version}"` };
  const answer = await fetch(`${path}/version`, { headers, cache: "no-store" }).catch(() => null);
  // The conversation is gone, or the session has ended: reloading the page says so.
  if (answer && answer.status >= 400 && answer.status < 500) return;
  const tag = answer?.status === 204 ? answer.headers.get("ETag")?.replaceAll('"', "") : undefined;
  if (tag !== undefined && tag !== version && (await update())) {
    version = tag;
    pause = PAUSE_MIN;
  }
  wait();
}

/** Shows the present state. @returns Whether all of it is shown. */
async function update(): Promise<boolean> {
  const address = new URL(location.href);
  for (const name of ["edit", "body"]) address.searchParams.delete(name);
  const answer = await fetch(address, { cache: "no-store" }).catch(() => null);
  if (!answer?.ok || answer.redirected) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  addEntries(page);
  const parts = [...document.querySelectorAll<HTMLElement>("[data-live]")];
  const pairs = parts.map((part) => [part, findPart(page, part)] as const);
  return [...pairs, ...changedEntries(page)]
    .map(([part, fresh]) => renew(part, fresh))
    .every(Boolean);
}

const findPart = (page: Document, part: HTMLElement): HTMLElement | null =>
  page.querySelector<HTMLElement>(`[data-live="${part.dataset["live"]}"]`);

/** The texts that were edited or reacted to, each with what it is by now. */
const changedEntries = (page: Document): (readonly [HTMLElement, HTMLElement])[] =>
  [...page.querySelectorAll<HTMLElement>(".timeline > [data-entry]")].flatMap((fresh) => {
    const shown = document.getElementById(fresh.id);
    return shown && shown.dataset["entry"] !== fresh.dataset["entry"] ? [[shown, fresh]] : [];
  });

function addEntries(page: Document): void {
  const list = document.querySelector(".timeline");
  const added = [...page.querySelectorAll(".timeline > li")].filter(
    ({ id }) => id !== "" && document.getElementById(id) === null,
  );
  for (const entry of added) localize(entry);
  list?.append(...added);
  if (!news || added.length === 0) return;
  news.textContent = added.length === 1 ? "One new entry" : `${added.length} new entries`;
}

/** Replaces a part by what it is by now, unless the reader is using it. */
function renew(part: HTMLElement, fresh: HTMLElement | null): boolean {
  if (!fresh) return true;
  if (isUsed(part)) return false;
  localize(fresh);
  // That of the address has the focus itself.
  const hasFocus = part === document.activeElement;
  part.replaceWith(fresh);
  if (hasFocus) fresh.focus({ preventScroll: true });
  return true;
}

/** Whether the focus is in a part, or something of it is open, edited or changed. */
const isUsed = (part: HTMLElement): boolean =>
  (part !== document.activeElement && part.contains(document.activeElement)) ||
  part.querySelector("[autofocus]") !== null ||
  part.querySelector("details[open]") !== null ||
  [...part.querySelectorAll("input, textarea, select")].some(isChanged);

function isChanged(field: Element): boolean {
  if (field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type)) {
    return field.checked !== field.defaultChecked;
  }
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
    return field.selectedIndex !== Math.max(first, 0);
  }
  const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  return isText && field.value !== field.defaultValue;
}

document.addEventListener("visibilitychange", () => {
  pause = PAUSE_MIN;
  if (document.hidden) clearTimeout(timer);
  else void ask();
});
if (news) wait();
