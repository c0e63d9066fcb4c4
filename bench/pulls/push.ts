import { setTimeout as wait } from "node:timers/promises";

import { middle } from "../content/measure.ts";
import type { ContentForge } from "../content/forge.ts";
import { git } from "../git/git.ts";

/** How often the database is asked whether all pull requests are checked, in milliseconds. */
const POLL_MS = 100;
/** How long they may take, in milliseconds. */
const CHECK_MS_MAX = 30 * 60 * 1000;

/** What a push to the base of open pull requests costs. */
export type PushCost = {
  /** Duration of `git push`, in seconds. */
  pushSeconds: number;
  /** From the end of the push until all are checked against the new base, in seconds. */
  checkedSeconds: number;
};

/** Pushes one commit to `branch`, which edits nothing that the pull requests edit. */
export async function pushCommit(forge: ContentForge, bare: string, branch: string, at: number) {
  const tip = await git(bare, ["rev-parse", branch]);
  const message = "Push to the base\n";
  await git(
    bare,
    ["fast-import", "--quiet", "--done"],
    [
      `commit refs/heads/${branch}\n`,
      `committer C O Mitter <committer@example.com> ${1_760_000_000 + at} +0000\n`,
      `data ${message.length}\n${message}`,
      `from ${tip}\n`,
      `M 100644 inline bench-pushed.txt\ndata 3\n${String(at % 1000).padStart(3, "0")}\n`,
      "done\n",
    ],
  );
  const { url, options } = forge.git();
  const startedAt = performance.now();
  await git(bare, [...options, "push", "--quiet", url, branch]);
  return (performance.now() - startedAt) / 1000;
}

/** Pushes to the base, and waits until all open pull requests are checked again. */
export async function measurePush(
  forge: ContentForge,
  bare: string,
  base: string,
  runs: number,
): Promise<PushCost> {
  const pushes: number[] = [];
  const waits: number[] = [];
  for (let run = 1; run <= runs; run++) {
    pushes.push(await pushCommit(forge, bare, base, run));
    const startedAt = performance.now();
    await untilChecked(forge, await git(bare, ["rev-parse", base]));
    waits.push((performance.now() - startedAt) / 1000);
  }
  return { pushSeconds: middle(pushes), checkedSeconds: middle(waits) };
}

/** Waits until all open pull requests are checked against a base. */
export async function untilChecked(forge: ContentForge, baseOid: string): Promise<void> {
  const end = performance.now() + CHECK_MS_MAX;
  const db = await forge.database();
  const count = db
    .prepare(
      `select count(*) as n
      from pulls
      where not is_closed
        and (merge_state = 'checking' or judged_base_oid <> ? or judged_head_oid <> head_oid)`,
    )
    .bind(baseOid);
  for (;;) {
    const left = Number((await count.all()).results[0]?.["n"]);
    if (left === 0) return;
    if (performance.now() > end) throw new Error(`${left} pull requests are not checked`);
    await wait(POLL_MS);
  }
}

/** Seconds that git takes to work out the merges of all heads, one process for each. */
export async function mergeAll(
  bare: string,
  base: string,
  heads: readonly string[],
): Promise<number> {
  const startedAt = performance.now();
  for (const head of heads) await git(bare, ["merge-tree", "--write-tree", base, head]);
  return (performance.now() - startedAt) / 1000;
}
