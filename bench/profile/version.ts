import { readFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join } from "node:path";

import { findFreePort } from "../../scripts/serve/port.ts";
import { Refusal } from "../../scripts/refusal.ts";
import { run } from "../../scripts/tools/run.ts";
import { ask, openClient, type Client } from "../api/client.ts";
import { runLoad } from "../support/concurrent-load.ts";
import { treeCpuSeconds } from "../support/process-tree.ts";
import { openStartedService, type StartedService } from "../support/started-service.ts";
import type { Source } from "../git/source.ts";
import { openCaller } from "./caller.ts";
import { openDoors, type Door } from "./doors.ts";
import { profileWhile, sampleMs, SERVICE, writeProfiledRuntime } from "./inspector.ts";
import { countBusy, countByPart, PUSH_PARTS } from "./parts.ts";
import { openPusher } from "./pushes.ts";

/** What a request of a door, or a push, costs in CPU time, in milliseconds. */
export type Cost = {
  /** Of all processes of the service, while nothing is profiled. */
  all: number;
  /** By part of the service, within its isolate. */
  parts: ReadonlyMap<string, number>;
};

/** A version of the project, served. */
export type Version = {
  doors: readonly Door[];
  /** Measures the requests of a door: once as it is, and once profiled. */
  measure: (door: Door, seconds: number) => Promise<Cost>;
  /** Measures a push into a new repository, with all that follows from it, in the same way. */
  measurePush: (source: Source) => Promise<Cost>;
  close: () => Promise<void>;
};

const CONNECTIONS = 4;

/**
 * Serves a version of the project as `npm start` does, with an inspector.
 *
 * @param directory For its state and its source map.
 */
export async function openVersion(project: string, directory: string): Promise<Version> {
  const port = await findFreePort("127.0.0.1");
  const env = writeProfiledRuntime(directory, port);
  const service = await openStartedService(join(directory, "data"), { project, env });
  const client = openClient(new URL(service.origin));
  const close = async (): Promise<void> => {
    client.close();
    await service.close();
  };
  try {
    const map = await buildSourceMap(project, join(directory, "mapped"));
    const caller = await openCaller(service);
    const opened = { service, client, map, port };
    const push = openPusher(service, caller);
    return {
      doors: await openDoors(service, caller),
      measure: (door, seconds) => measureDoor(opened, door, seconds),
      measurePush: (source) => measurePush(opened, () => push(source)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Opened = { service: StartedService; client: Client; map: SourceMap; port: number };

async function measureDoor(
  { service, client, map, port }: Opened,
  door: Door,
  seconds: number,
): Promise<Cost> {
  const load = () =>
    runLoad(
      async () => (await ask(client, door)).durationMs,
      CONNECTIONS,
      seconds,
      () => treeCpuSeconds(service.pid()),
    );
  const { count, cpuSeconds } = await load();
  let profiled = 0;
  const [profile] = await profileWhile(port, [SERVICE], async () => {
    profiled = (await load()).count;
  });
  if (!profile) throw new Error("no profile was made");
  const each = sampleMs(profile) / profiled;
  const parts = new Map(
    [...countByPart(profile, map)].map(([part, samples]) => [part, samples * each] as const),
  );
  return { all: (1000 * cpuSeconds) / count, parts };
}

/** The isolates of bindings, by the names of their plugins in scripts/serve. */
const BINDINGS = {
  "local-bucket": "the bucket's isolate",
  "local-database": "the database's isolate",
};

async function measurePush(
  { service, map, port }: Opened,
  push: () => Promise<void>,
): Promise<Cost> {
  const from = treeCpuSeconds(service.pid());
  await push();
  const all = 1000 * (treeCpuSeconds(service.pid()) - from);
  const names = [SERVICE, ...Object.keys(BINDINGS)];
  const [own, ...others] = await profileWhile(port, names, push);
  if (!own) throw new Error("no profile was made");
  const each = sampleMs(own);
  const parts = new Map(
    [...countByPart(own, map, PUSH_PARTS)].map(([part, count]) => [part, count * each] as const),
  );
  for (const [at, name] of Object.values(BINDINGS).entries()) {
    const profile = others[at];
    if (profile) parts.set(name, countBusy(profile) * sampleMs(profile));
  }
  return { all, parts };
}

/** Builds the Worker of a version once more, with a source map. */
async function buildSourceMap(project: string, outdir: string): Promise<SourceMap> {
  const args = ["deploy", "--dry-run", "--minify", "--upload-source-maps", "--outdir", outdir];
  const { code, output } = await run("wrangler", args, { cwd: project });
  if (code !== 0) throw new Refusal(`the Worker does not build:\n${output.trim()}`);
  const read = (path: string): Promise<string> => readFile(path, "utf8");
  const [served, mapped] = await Promise.all([
    read(join(project, "dist/worker/worker.js")),
    read(join(outdir, "worker.js")),
  ]);
  const withoutMap = (text: string): string =>
    text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "").trim();
  if (withoutMap(served) !== withoutMap(mapped))
    throw new Error("the source map is not of the served Worker");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- esbuild's format.
  return new SourceMap(JSON.parse(await read(join(outdir, "worker.js.map"))) as SourceMapPayload);
}
