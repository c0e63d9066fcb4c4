import { git } from "../git/git.ts";
import { formatInteger } from "../support/table.ts";
import type { Case } from "./cases.ts";
import type { ContentForge } from "./forge.ts";

/** The columns of a table of measurements. */
export const COLUMNS = ["case", "cold ms", "R2", "warm ms", "R2", "bytes", "git ms", "ratio"];

/** Measures a case once with empty caches, then warm in turn with git; the cells after the name. */
export async function measure(
  forge: ContentForge,
  bare: string,
  one: Case,
  runsAsked: number,
): Promise<string[]> {
  const runs = Math.max(1, Math.round(runsAsked * (one.share ?? 1)));
  await one.prepare?.(0);
  await forge.restartCold();
  const cold = await askAll(forge, one, 0);
  const [warm, theirs]: [Asked[], number[]] = [[], []];
  for (let run = 1; run <= runs; run += 1) {
    await one.prepare?.(run);
    warm.push(await askAll(forge, one, run));
    theirs.push(await runAll(bare, one, run));
  }
  const warmSeconds = middle(warm.map(({ seconds }) => seconds));
  const gitSeconds = middle(theirs);
  return [
    milliseconds(cold.seconds),
    formatInteger(cold.r2Calls),
    milliseconds(warmSeconds),
    formatInteger(middle(warm.map(({ r2Calls }) => r2Calls))),
    formatInteger(cold.bytes),
    milliseconds(gitSeconds),
    (warmSeconds / gitSeconds).toFixed(2),
  ];
}

type Asked = { seconds: number; r2Calls: number; bytes: number };

async function askAll(forge: ContentForge, one: Case, run: number): Promise<Asked> {
  const sum: Asked = { seconds: 0, r2Calls: 0, bytes: 0 };
  for (const request of one.requests(run)) {
    const answer = await forge.ask(request);
    sum.seconds += answer.seconds;
    sum.r2Calls += answer.r2Calls;
    sum.bytes += answer.bytes;
  }
  return sum;
}

/** Seconds until git has finished, including the start of its processes. */
async function runAll(bare: string, one: Case, run: number): Promise<number> {
  let seconds = 0;
  for (const { args, input } of one.commands(run)) {
    const from = performance.now();
    await git(bare, args, input === undefined ? [] : [input]);
    seconds += (performance.now() - from) / 1000;
  }
  return seconds;
}

export function middle(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function milliseconds(seconds: number): string {
  return (seconds * 1000).toFixed(1);
}
