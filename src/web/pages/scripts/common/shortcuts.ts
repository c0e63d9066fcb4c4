import { type NamedKey, openKeyHelp } from "./key-help.ts";

/** What a key does, and whether the page has something to do it to. */
interface Shortcut extends NamedKey {
  readonly isUsable: () => boolean;
  readonly run: () => void;
}

/** Where a browser remembers that its reader uses no keys. */
const SETTING = "edgeforge-keys";

const find = (selector: string): HTMLElement | null => document.querySelector(selector);

/** The entries of a page's lists, each with a link. */
const ROWS = ".commits > li, .files tbody tr, .list > li, [data-row]";
/** Conversations about code. */
const THREADS = "[data-thread]";

const SHORTCUTS: readonly Shortcut[] = [
  { key: "?", label: "Show these keys", isUsable: () => true, run: showHelp },
  {
    key: "/",
    label: "Search",
    isUsable: () => find("[data-key='/']") !== null,
    run: () => find("[data-key='/']")?.focus(),
  },
  {
    key: "t",
    label: "Find a file",
    isUsable: () => find("[data-key=t]") !== null,
    run: () => find("[data-key=t]")?.click(),
  },
  {
    key: "y",
    label: "Permanent address",
    isUsable: () => find("[data-permalink]") !== null,
    run: showPermalink,
  },
  stepKey("j", "Next entry", ROWS, 1),
  stepKey("k", "Previous entry", ROWS, -1),
  stepKey("n", "Next conversation about code", THREADS, 1),
  stepKey("p", "Previous conversation about code", THREADS, -1),
];

/** Makes the keys of `SHORTCUTS` work, unless the reader has turned them off. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !areEnabled()) return;
    if ((event.target as Element).closest("input, textarea, select, dialog")) return;
    const shortcut = SHORTCUTS.find(({ key }) => key === event.key);
    if (!shortcut?.isUsable()) return;
    event.preventDefault();
    shortcut.run();
  });
  document.addEventListener("click", ({ target }) => {
    if ((target as Element).closest("[data-key='?']")) showHelp();
  });
}

function showHelp(): void {
  const usable = SHORTCUTS.filter(({ isUsable }) => isUsable());
  openKeyHelp(usable, areEnabled(), enable);
}

// Reading throws where the reader's browser stores nothing.
function areEnabled(): boolean {
  try {
    return localStorage.getItem(SETTING) !== "off";
  } catch {
    return true;
  }
}

function enable(isEnabled: boolean): void {
  if (isEnabled) localStorage.removeItem(SETTING);
  else localStorage.setItem(SETTING, "off");
}

/** Shows the address of the commit in place of that of a branch, for the same content. */
function showPermalink(): void {
  const path = find("[data-permalink]")?.dataset["permalink"] ?? "";
  history.replaceState(null, "", path + location.search + location.hash);
}

/** The elements of a kind that are shown, each with a link. */
const findRows = (selector: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter(
    (row) => row.checkVisibility() && row.querySelector("a, summary") !== null,
  );

/** A key that goes through elements of a kind. */
function stepKey(key: string, label: string, selector: string, by: 1 | -1): Shortcut {
  return {
    key,
    label,
    isUsable: () => findRows(selector).length > 0,
    run: () => step(selector, by),
  };
}

/** Gives the focus to the link of an element before or after the one that has it. */
function step(selector: string, by: 1 | -1): void {
  const rows = findRows(selector);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
  const link = row?.querySelector<HTMLElement>("a.subject");
  (link ?? row?.querySelector<HTMLElement>("a, summary"))?.focus();
}
