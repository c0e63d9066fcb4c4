import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { type Edgeforge, expect } from "../git/edgeforge.ts";
import type { Forge } from "../git/forge.ts";
import { git } from "../git/git.ts";
import { measure, type Measurement } from "../git/measure.ts";
import type { Source } from "../git/source.ts";
import { readCpuTime } from "../support/process.ts";

/** Both sides, and the repository that both of them follow. */
export type Sides = {
  service: Edgeforge;
  remote: Forge;
  source: Source;
  /** Of the repository on the remote. */
  url: string;
  directory: string;
};

/** An operation of mirrors. `prepare` is not measured, and precedes both sides of a run. */
export type MirrorCase = {
  name: string;
  prepare: (run: number) => Promise<void>;
  git: (run: number) => Promise<Measurement>;
  edgeforge: (run: number) => Promise<Measurement>;
};

/** Between two looks at whether the service has finished. */
const LOOK_MS = 20;
const LOOKS_MAX = 60_000;

const Migration = z.object({ state: z.string(), last_error: z.string() });
const Mirror = z.object({ mirror_updated: z.string() });

export function makeMirrorCases(sides: Sides): MirrorCase[] {
  const { service, remote, source, url, directory } = sides;
  const mirror = join(directory, `mirror-${source.size}.git`);
  const nameOf = (run: number): string => `mirror-${source.size}-${run}`;
  const last = nameOf(1);
  let syncs = 0;

  const clone = (): Promise<Measurement> => {
    rmSync(mirror, { recursive: true, force: true });
    return measureGit(remote, () => git(directory, ["clone", "--quiet", "--mirror", url, mirror]));
  };
  const update = (): Promise<Measurement> =>
    measureGit(remote, () => git(mirror, ["remote", "update", "--prune"]));
  const sync = async (): Promise<Measurement> => {
    const before = await updatedAt(service, last);
    // The record has whole seconds.
    await pause(1100);
    return measure(service, async () => {
      expect(200, await service.call("POST", `/repos/${service.owner}/${last}/mirror-sync`));
      for (let looks = 0; (await updatedAt(service, last)) === before; looks++) {
        if (looks === LOOKS_MAX) throw new Error(`${last} is not synchronized`);
        await pause(LOOK_MS);
      }
    });
  };

  return [
    {
      name: "first import",
      prepare: async () => undefined,
      git: clone,
      edgeforge: (run) =>
        measure(service, async () => {
          const input = {
            clone_addr: url,
            repo_name: nameOf(run),
            service: "git",
            mirror: true,
            mirror_interval: "0",
          };
          expect(201, await service.call("POST", "/repos/migrate", input));
          await untilImported(service, nameOf(run));
        }),
    },
    { name: "nothing new", prepare: async () => undefined, git: update, edgeforge: sync },
    {
      name: "one commit",
      prepare: async () => {
        syncs += 1;
        const tree = await git(source.nextPath, ["rev-parse", `${source.branch}^{tree}`]);
        const args = ["commit-tree", tree, "-p", source.branch, "-m", `sync ${syncs}`];
        const oid = await git(source.nextPath, args);
        await git(source.nextPath, ["update-ref", `refs/heads/${source.branch}`, oid]);
        await git(source.nextPath, [
          ...remote.writeOptions,
          "push",
          "--quiet",
          url,
          `+${source.branch}:${source.branch}`,
        ]);
      },
      git: update,
      edgeforge: sync,
    },
  ];
}

/** What git does on this machine, without the work of the server that it asks. */
async function measureGit(remote: Forge, work: () => Promise<unknown>): Promise<Measurement> {
  await remote.settle();
  const cpuBefore = readCpuTime(process.pid).children;
  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1000;
  const cpuSeconds = readCpuTime(process.pid).children - cpuBefore;
  await remote.settle();
  return { seconds, cpuSeconds, riseBytes: undefined, peakBytes: undefined, usage: undefined };
}

async function untilImported(service: Edgeforge, name: string): Promise<void> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const answer = await service.call("GET", `/repos/${service.owner}/${name}/migration`);
    const { state, last_error } = Migration.parse(JSON.parse(expect(200, answer).text));
    if (state === "done") return;
    if (state !== "running") throw new Error(`${name} is ${state}: ${last_error}`);
    await pause(LOOK_MS);
  }
  throw new Error(`${name} is not imported`);
}

async function updatedAt(service: Edgeforge, name: string): Promise<string> {
  const answer = await service.call("GET", `/repos/${service.owner}/${name}`);
  return Mirror.parse(JSON.parse(expect(200, answer).text)).mirror_updated;
}
