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
import { openDoors, type Door } from "./doors.ts";
import { profileWhile, sampleMs, writeProfiledRuntime } from "./inspector.ts";
import { countByPart } from "./parts.ts";

/** What a request of a door costs in CPU time, in milliseconds. */
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
    const doors = await openDoors(service);
    const measure = (door: Door, seconds: number): Promise<Cost> =>
      measureDoor({ service, client, map, port }, door, seconds);
    return { doors, measure, close };
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
  const profile = await profileWhile(port, async () => {
    profiled = (await load()).count;
  });
  const each = sampleMs(profile) / profiled;
  const parts = new Map(
    [...countByPart(profile, map)].map(([part, samples]) => [part, samples * each] as const),
  );
  return { all: (1000 * cpuSeconds) / count, parts };
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
