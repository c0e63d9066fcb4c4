/**
 * `npm run bench:git`: compares the service with `git http-backend` behind a plain web
 * server, with git as the client of both.
 *
 * Runs the service of `npm start`, with its state in a temporary directory. bench/README.md
 * explains the numbers.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { buildAssets } from "../scripts/build/assets.ts";
import { buildWorker } from "../scripts/build/worker.ts";
import { Refusal } from "../scripts/refusal.ts";
import { CASES, push, type Case, type Side } from "./git/cases.ts";
import { openEdgeforge, type Edgeforge } from "./git/edgeforge.ts";
import { measureFork } from "./git/fork.ts";
import { stopGit } from "./git/git.ts";
import { formatGoals } from "./git/goals.ts";
import { openHttpBackend } from "./git/http-backend.ts";
import { measure, summarize, type Measurement } from "./git/measure.ts";
import { parseOptions, type Options } from "./git/options.ts";
import { formatTable, type Row } from "./git/report.ts";
import { copySource, makeSource, type Source } from "./git/source.ts";
import { describeMachine } from "./support/machine.ts";
import { withResources, type Resources } from "./support/resources.ts";

await withResources(bench);

async function bench(resources: Resources): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (process.platform !== "linux") {
    throw new Refusal("this benchmark needs Linux: it reads CPU time and memory from /proc");
  }
  console.log(describeMachine());
  await buildAssets();
  await buildWorker();
  const { directory } = resources;
  await resources.track({ close: stopGit });
  const theirs = await resources.track(openHttpBackend(join(directory, "http-backend")));
  const ours = await resources.track(openEdgeforge(join(directory, "data")));

  const rows: Row[] = [];
  for (const { size, path } of options.repositories) {
    const source = path
      ? await copySource(size, path, directory)
      : await makeSource(size, options.cache, directory);
    const megabytes = (source.packBytes / 1e6).toFixed(1);
    console.log(
      `\n${size}: ${source.objects.toLocaleString("en")} objects, ${megabytes} MB, ${source.refs.length.toLocaleString("en")} refs`,
    );
    const sides = [ours, theirs].map((forge) => ({ forge, source, name: "", url: "" }));
    const measured = await runCases(directory, sides, ours, source, options);
    rows.push(...measured);
    console.log(`\n${formatTable(measured)}`);
  }
  console.log(`\n${formatGoals(rows)}`);

  const mismatch = rows.find(({ objects }) => objects && objects.ours !== objects.theirs);
  if (!mismatch) return;
  console.error(
    `\n${mismatch.name} of ${mismatch.size} received a different number of objects than from git`,
  );
  process.exitCode = 1;
}

async function runCases(
  directory: string,
  sides: Side[],
  ours: Edgeforge,
  { size }: Source,
  { cases, runs }: Options,
): Promise<Row[]> {
  const rows: Row[] = [];
  const pushed = await runCase(directory, sides, push, cases.includes("push") ? runs : 1);
  if (cases.includes("push")) rows.push({ size, ...pushed });
  for (const { forge, name } of sides) await forge.compact(name);

  for (const one of CASES.filter(({ name }) => cases.includes(name))) {
    for (const side of sides) await one.setUp?.(side);
    rows.push({ size, ...(await runCase(directory, sides, one, runs * one.repeat)) });
    console.log(`measured: ${one.name}`);
  }
  const [side] = sides;
  if (cases.includes("fork") && side) {
    const measured = await measureFork(ours, side.name, 3 * runs);
    if (measured) {
      const { fork, creation } = measured;
      rows.push({ size, name: "fork", ours: fork, theirs: creation, objects: undefined });
    } else {
      console.log("not measured: fork, because the service has no forks");
    }
  }
  return rows;
}

/** Runs a case on both sides, starting with the other side in each run. */
async function runCase(
  directory: string,
  sides: Side[],
  one: Case,
  runs: number,
): Promise<Omit<Row, "size">> {
  const measured = new Map<Side, Measurement[]>(sides.map((side) => [side, []]));
  const counts = new Map<Side, number>();
  for (let run = 0; run < runs; run += 1) {
    for (const side of run % 2 === 0 ? sides : sides.toReversed()) {
      const scratch = mkdtempSync(join(directory, "run-"));
      const { work, countObjects, verify } = await one.prepare(side, scratch);
      measured.get(side)?.push(await measure(side.forge, work));
      if (countObjects) counts.set(side, await countObjects());
      if (run === 0) await verify?.();
      rmSync(scratch, { recursive: true });
    }
  }
  const [ours, theirs] = sides.map((side) => ({
    summary: summarize(measured.get(side) ?? []),
    objects: counts.get(side),
  }));
  if (!ours || !theirs) throw new Error("a comparison has two sides");
  return {
    name: one.name,
    ours: ours.summary,
    theirs: theirs.summary,
    objects:
      ours.objects === undefined || theirs.objects === undefined
        ? undefined
        : { ours: ours.objects, theirs: theirs.objects },
  };
}
