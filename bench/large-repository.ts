/**
 * `npm run bench:large`: what requests to a repository of very many objects hold in memory and read
 * of the bucket, with tables read by block and whole.
 *
 * Generates a repository of one pack, and runs the engine and the storage in this process on a
 * bucket of files: the numbers are those that the code counts, the same on each machine.
 * bench/README.md explains them.
 */
import "./large/load-wasm.ts";

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import type { TableMode } from "../test/support/large-requests.ts";
import { numberOption, refusingUnknown } from "./support/options.ts";
import { type Resources, withResources } from "./support/resources.ts";
import { formatCells, formatInteger } from "./support/table.ts";

const MB = 1024 * 1024;
/** The bound of a request's memory in MB: see docs/git.md. */
const BOUND_MB = 64;
/**
 * The number of the first commit of the pack that is joined with the repository: it has other
 * objects.
 */
const OTHER_FIRST = 10_000_000;

await withResources(bench);

async function bench({ directory, track }: Resources): Promise<void> {
  const { commits, modes } = parseOptions(process.argv.slice(2));
  // After the hook that loads WebAssembly.
  const { DiskBucket } = await import("../test/support/disk-bucket.ts");
  const large = await import("../test/support/large-requests.ts");
  const reads = await import("../test/support/large-reads.ts");

  const disk = await DiskBucket.make();
  await track({ close: () => disk.remove() });
  const scratch = join(directory, "large");
  mkdirSync(scratch);
  const repository = await large.makeLargeRepository(disk, scratch, commits);
  const { pack } = repository;
  const inMb = (bytes: number): string => (bytes / MB).toFixed(1);
  console.log(
    `${formatInteger(pack.objectCount)} objects, ${formatInteger(commits)} commits: ` +
      `pack ${inMb(pack.packBytes)} MB, index ${inMb(pack.idxBytes)} MB, ` +
      `sidecar with block tables ${inMb(pack.sidecarBytes)} MB`,
  );

  const thinPack = await large.makeThinPack(repository);
  type Request = Awaited<ReturnType<typeof large.openRequest>>;
  const cases: readonly (readonly [string, (request: Request) => Promise<unknown>])[] = [
    ["ls-refs", (request) => large.listRefs(request)],
    ["fetch of one commit", (request) => large.fetchCommit(request, repository)],
    ["contents of a file", (request) => large.readFile(request)],
    ["push of one commit", (request) => large.pushCommit(request, thinPack)],
    ["raw file", (request) => reads.readRaw(request)],
    ["write of a file", (request) => reads.writeFile(request, repository, `write-${writes++}`)],
    ["commits, a page", (request) => reads.listHistory(request)],
    ["tree, one directory", (request) => reads.listRoot(request)],
    ["comparison and diff, 8 commits", (request) => reads.compareCommits(request, repository)],
    ["mergeability of a pull request", (request) => reads.checkMergeability(request, repository)],
  ];
  const lines: string[][] = [];
  let writes = 0;
  let isOver = false;
  for (const mode of modes) {
    for (const [name, run] of cases) {
      const request = await large.openRequest(repository, mode);
      disk.readBytes = 0;
      const before = process.cpuUsage();
      await run(request);
      const { user, system } = process.cpuUsage(before);
      const { r2Calls, r2Rounds, bufferedBytesPeak } = request.usage;
      if (mode === "blocks" && bufferedBytesPeak > BOUND_MB * MB) isOver = true;
      const counts = [r2Calls, r2Rounds].map(formatInteger);
      const cpuMs = formatInteger((user + system) / 1000);
      lines.push([
        `${name}, ${mode}`,
        inMb(bufferedBytesPeak),
        ...counts,
        inMb(disk.readBytes),
        cpuMs,
      ]);
    }
  }
  const other = await large.makeLargeRepository(
    disk,
    scratch,
    Math.ceil(commits / 10),
    OTHER_FIRST,
  );
  const joining = await large.openRequest(repository, "blocks");
  disk.readBytes = 0;
  const before = process.cpuUsage();
  const joined = await reads.joinRepositories(joining, repository, other);
  const { user, system } = process.cpuUsage(before);
  const { r2Calls, r2Rounds, bufferedBytesPeak } = joining.usage;
  if (bufferedBytesPeak > BOUND_MB * MB) isOver = true;
  lines.push([
    `join with ${formatInteger(other.pack.objectCount)} objects`,
    inMb(bufferedBytesPeak),
    ...[r2Calls, r2Rounds].map(formatInteger),
    inMb(disk.readBytes),
    formatInteger((user + system) / 1000),
  ]);
  const last = await large.openRequest({ ...joined, tips: other.tips }, "blocks");
  await large.fetchCommit(last, other);
  const head = ["request, tables", "MB held", "bucket calls", "rounds", "MB read", "CPU ms"];
  console.log(`\n${formatCells(head, lines)}`);
  if (isOver) throw new Error(`a request holds more than ${BOUND_MB} MB`);
}

function parseOptions(args: string[]): { commits: number; modes: TableMode[] } {
  const { values } = refusingUnknown(() =>
    parseArgs({
      args,
      options: {
        commits: { type: "string", default: "200000" },
        whole: { type: "boolean", default: false },
      },
    }),
  );
  const modes: TableMode[] = values.whole ? ["blocks", "whole"] : ["blocks"];
  return { commits: numberOption("--commits", values.commits, 4200, 1_000_000), modes };
}
