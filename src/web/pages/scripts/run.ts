/**
 * The script of the pages of runs and of jobs: as long as the tab is shown, what has not ended is
 * brought up to date, and the log of a job is followed.
 */

/** Pauses between two questions, in milliseconds: about a log, and about a whole page. */
const LOG_MS = 1500;
const PAGE_MS = 5000;
/** Rows of a section that stay on the page while it is followed. */
const ROWS_MAX = 5000;

/** The answer about the rows of a section. */
interface Rows {
  readonly isDone: boolean;
  /** HTML of the service, as all of it. */
  readonly state: string;
  readonly html: string;
  readonly next: number;
  readonly sections: readonly {
    readonly index: number;
    readonly state: string;
    readonly rowCount: number;
    readonly summary: string;
  }[];
}

/** Waits, and for the tab to be shown. */
async function rest(ms: number): Promise<void> {
  await new Promise((resolve) => void setTimeout(resolve, ms));
  if (document.visibilityState === "visible") return;
  await new Promise((resolve) =>
    document.addEventListener("visibilitychange", resolve, { once: true }),
  );
}

const fetchOrNothing = (address: string): Promise<Response | undefined> =>
  window.fetch(address).catch(() => undefined);

/** Replaces a part of the page by what it is now, until it does not change any more. */
async function renew(part: HTMLElement): Promise<void> {
  for (;;) {
    await rest(PAGE_MS);
    const answer = await fetchOrNothing(window.location.href);
    if (!answer?.ok) continue;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelector<HTMLElement>(`#${part.id}`);
    // A log has begun, or a run has ended: its buttons are others.
    if (next?.dataset["live"] === undefined) break;
    if (!part.contains(document.activeElement)) part.innerHTML = next.innerHTML;
  }
  window.location.reload();
}

const sectionOf = (index: number): HTMLDetailsElement | null =>
  document.querySelector<HTMLDetailsElement>(`details[data-step="${index}"]`);

/** The sections whose end the page shows. */
const growing = (): HTMLDetailsElement[] => [
  ...document.querySelectorAll<HTMLDetailsElement>("details[data-next]"),
];

/** The section that runs and is shown up to its end, or else any: it says how the others are. */
const followed = (): HTMLDetailsElement | null =>
  growing().find(({ dataset }) => dataset["state"] === "running") ?? sectionOf(0);

/** Beyond the end of every section. */
const NOTHING = "999999999";

async function askRows(logs: string, section: HTMLDetailsElement): Promise<Rows | undefined> {
  const address = new URL(logs, window.location.href);
  address.searchParams.set("step", section.dataset["step"] ?? "0");
  address.searchParams.set("from", section.dataset["next"] ?? NOTHING);
  const answer = await fetchOrNothing(address.href);
  return answer?.ok ? ((await answer.json()) as Rows) : undefined;
}

function append(section: HTMLDetailsElement, { html, next }: Rows): void {
  section.dataset["next"] = String(next);
  const log = section.querySelector(".log");
  if (!log || html === "") return;
  const bottom = document.documentElement.scrollHeight;
  const isAtEnd = window.innerHeight + window.scrollY >= bottom - 40;
  log.insertAdjacentHTML("beforeend", html);
  while (log.childElementCount > ROWS_MAX) log.firstElementChild?.remove();
  section.querySelector(".scroll")?.removeAttribute("hidden");
  section.querySelector("p.soft")?.remove();
  if (isAtEnd) window.scrollTo(0, document.documentElement.scrollHeight);
}

function showRows(section: HTMLDetailsElement, rows: Rows): void {
  if (section.dataset["next"] !== undefined) append(section, rows);
  const state = document.querySelector("#job-state");
  if (state) state.innerHTML = rows.state;
  for (const each of rows.sections) {
    const shown = sectionOf(each.index);
    const summary = shown?.querySelector("summary");
    if (summary) summary.innerHTML = each.summary;
    if (!shown) continue;
    if (each.state === "running" && shown.dataset["state"] !== "running") shown.open = true;
    shown.dataset["state"] = each.state;
  }
}

/** The first section that has more rows than the page. */
const unfinished = ({ sections }: Rows): HTMLDetailsElement | undefined =>
  growing().find(({ dataset }) => {
    const rows = sections.find(({ index }) => String(index) === dataset["step"]);
    return Number(dataset["next"]) < (rows?.rowCount ?? 0);
  });

async function followLog(logs: string): Promise<void> {
  let section = followed();
  while (section) {
    const rows = await askRows(logs, section);
    if (rows) showRows(section, rows);
    const next = rows ? unfinished(rows) : undefined;
    if (rows?.isDone && !next) {
      window.location.reload();
      return;
    }
    if (!next) await rest(LOG_MS);
    section = next ?? followed();
  }
}

/** Opens what the address names. */
function openNamed(): void {
  const row = document.getElementById(window.location.hash.slice(1));
  if (!row?.closest(".log")) return;
  for (let at = row.closest("details"); at; at = at.parentElement?.closest("details") ?? null) {
    at.open = true;
  }
  row.scrollIntoView({ block: "center" });
}

const live = document.querySelector<HTMLElement>("[data-live]");
if (live) void renew(live);
const job = document.querySelector<HTMLElement>("[data-logs]");
if (job?.dataset["logs"]) void followLog(job.dataset["logs"]);
openNamed();
window.addEventListener("hashchange", openNamed);
