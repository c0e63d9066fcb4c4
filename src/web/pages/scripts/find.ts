/**
 * The script of the page that finds a file: it filters as one types. Arrow keys go through what was
 * found, and Enter opens the first file.
 */
import { bestPaths, type ScoredPath, scorePath, toPathQuery } from "../../../lib/path-score.ts";

/** Files that are shown at once. */
const FOUND_MAX = 50;

const input = document.querySelector<HTMLInputElement>("input[data-paths]");
const found = document.querySelector("#found");
const count = document.querySelector("#found-count");

let loading: Promise<string[]> | undefined;

/** All paths of the revision; loaded once somebody types. */
async function loadPaths(address: string): Promise<string[]> {
  const response = await window.fetch(address);
  return response.ok ? ((await response.json()) as string[]) : [];
}

async function show({ dataset }: HTMLInputElement): Promise<void> {
  loading ??= loadPaths(dataset["paths"] ?? "");
  const paths = await loading;
  // Read after the list has come: more may have been typed meanwhile.
  const query = toPathQuery(input?.value ?? "");
  const scored = paths.flatMap((path): ScoredPath[] => {
    const score = query === "" ? 0 : scorePath(path, query);
    return score === undefined ? [] : [{ path, score }];
  });
  const items = bestPaths(scored, FOUND_MAX).map((path) => {
    const link = document.createElement("a");
    link.href = `${dataset["files"]}/${path.split("/").map(encodeURIComponent).join("/")}`;
    link.textContent = path;
    const item = document.createElement("li");
    item.append(link);
    return item;
  });
  found?.replaceChildren(...items);
  if (!count) return;
  const { length } = scored;
  count.textContent = `${length.toLocaleString()} file${length === 1 ? "" : "s"}`;
}

const links = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("#found a")];

/** Moves the focus through the input and the files below it. */
function move(event: KeyboardEvent, by: 1 | -1): void {
  const places = [...(input ? [input] : []), ...links()];
  const at = places.findIndex((place) => place === document.activeElement);
  const next = places[at + by];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

input?.addEventListener("input", () => void show(input));
input?.form?.addEventListener("submit", (event) => {
  const [first] = links();
  if (!first || loading === undefined) return;
  event.preventDefault();
  first.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") move(event, 1);
  if (event.key === "ArrowUp") move(event, -1);
});
