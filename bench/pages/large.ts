import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { git } from "../git/git.ts";
import { median } from "../support/statistics.ts";
import { openStartedService } from "../support/started-service.ts";
import type { Resources } from "../support/resources.ts";
import { formatCells, formatInteger } from "../support/table.ts";
import { OWNER } from "./cases.ts";
import { LONG_ISSUE, WIDE_PULL } from "./collaboration.ts";
import { LONG_FILE, largeHistory, MANY_FILES, REVISED_FILE, WIDE } from "./large-history.ts";

export const LARGE = "large";
const WARM_ROUNDS = 5;

/** A page of the large history, and how long it may take, in milliseconds. */
type LargeCase = { name: string; path: string; coldMs: number; warmMs: number };

const AT = `/${OWNER}/${LARGE}`;
const CASES: readonly LargeCase[] = [
  {
    name: "directory of 1,000 entries",
    path: `${AT}/src/branch/main/${WIDE}`,
    coldMs: 1000,
    warmMs: 150,
  },
  {
    name: "file of 10,000 lines",
    path: `${AT}/src/branch/main/${LONG_FILE}`,
    coldMs: 400,
    warmMs: 400,
  },
  {
    name: "blame of a file with 2,000 revisions",
    path: `${AT}/blame/branch/main/${REVISED_FILE}`,
    coldMs: 2000,
    warmMs: 2000,
  },
  {
    name: "diff of 3,000 files",
    path: `${AT}/commit/${MANY_FILES}`,
    coldMs: 300,
    warmMs: 300,
  },
  {
    name: "issue of 2,000 comments",
    path: `${AT}/issues/${LONG_ISSUE}`,
    coldMs: 200,
    warmMs: 200,
  },
  {
    name: "pull request of 1,000 files and 500 comments",
    path: `${AT}/pulls/${WIDE_PULL}/files`,
    coldMs: 400,
    warmMs: 400,
  },
];

/** How long a page took: to the first bytes of its body, and to its end. */
type Took = { firstMs: number; wholeMs: number; bytes: number };

/** Makes the large history and pushes it to `url`. @returns The commit of very many files. */
export async function pushLarge(directory: string, url: string, commits: number): Promise<string> {
  const history = join(directory, "large.git");
  mkdirSync(history);
  await git(history, ["init", "--quiet", "--bare", "--initial-branch", "main"]);
  await git(history, ["fast-import", "--quiet"], largeHistory(commits));
  await git(history, ["push", "--quiet", url, "main", MANY_FILES]);
  return git(history, ["rev-parse", MANY_FILES]);
}

/**
 * Measures pages of the large history, each with the first request of a service that has just
 * started, and with others after it.
 *
 * @param data The state of the service. No service runs with it.
 * @param tip The commit of very many files.
 */
export async function measureLarge(
  { track, release }: Resources,
  data: string,
  tip: string,
): Promise<string> {
  const rows: string[][] = [];
  for (const { name, path, coldMs, warmMs } of CASES) {
    const service = await track(openStartedService(data));
    const read = () => readPage(`${service.origin}${path.replace(MANY_FILES, tip)}`);
    const cold = await read();
    const warm: Took[] = [];
    for (let round = 0; round < WARM_ROUNDS; round++) warm.push(await read());
    await release(service);
    const of = (key: keyof Took): number => median(warm.map((each) => each[key]));
    const mark = (value: number, goal: number): string =>
      `${formatInteger(value)}${value > goal ? " (!)" : ""}`;
    rows.push([
      name,
      formatInteger(cold.firstMs),
      mark(cold.wholeMs, coldMs),
      formatInteger(of("firstMs")),
      mark(of("wholeMs"), warmMs),
      formatInteger(cold.bytes / 1000),
    ]);
  }
  return formatCells(
    ["page", "cold, first ms", "cold, whole ms", "warm, first ms", "warm, whole ms", "KB"],
    rows,
  );
}

async function readPage(url: string): Promise<Took> {
  const from = performance.now();
  const answer = await fetch(url, { headers: { accept: "text/html" } });
  if (answer.status !== 200 || !answer.body) throw new Error(`${url} answered ${answer.status}`);
  let bytes = 0;
  let firstMs = 0;
  for await (const chunk of answer.body) {
    if (bytes === 0) firstMs = performance.now() - from;
    bytes += (chunk as Uint8Array).byteLength;
  }
  return { firstMs, wholeMs: performance.now() - from, bytes };
}
