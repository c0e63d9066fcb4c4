import { readFile, writeFile } from "node:fs/promises";

import { z } from "zod";

import { inProject } from "../project.ts";

/** The work of requests and jobs, by the test file that counts it and by name. */
const WORK = "test/work.json";

/** Counts of one request or job, by kind (test/support/count-work.ts). */
const Work = z.record(z.string(), z.number());

export const Works = z.record(z.string(), z.record(z.string(), Work));

/** What test files have counted, by file and by name. */
export type Works = z.infer<typeof Works>;

export async function readWorks(): Promise<Works> {
  return Works.parse(JSON.parse(await readFile(inProject(WORK), "utf8")));
}

/** The record after a run: a file that passed replaces all of its own. */
export function recordedWorks(
  known: Works,
  run: { readonly works: Works; readonly failedFiles: readonly string[] },
): Works {
  const passed = Object.entries(run.works).filter(([file]) => !run.failedFiles.includes(file));
  return { ...known, ...Object.fromEntries(passed) };
}

/** Writes the record, one line per name, without what is not done. */
export async function writeWorks(works: Works): Promise<void> {
  const files = sorted(works).map(([file, byName]) => {
    const lines = sorted(byName).map(
      ([name, work]) => `    ${JSON.stringify(name)}: ${formatWork(work)}`,
    );
    return `  ${JSON.stringify(file)}: {\n${lines.join(",\n")}\n  }`;
  });
  await writeFile(inProject(WORK), `{\n${files.join(",\n")}\n}\n`);
}

const sorted = <T>(record: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

function formatWork(work: z.infer<typeof Work>): string {
  const done = Object.entries(work).filter(([, count]) => count > 0);
  return `{ ${done.map(([kind, count]) => `"${kind}": ${count}`).join(", ")} }`;
}
