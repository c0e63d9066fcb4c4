import type { SourceMap } from "node:module";

import type { Profile } from "./inspector.ts";

/**
 * A part of the service, and the files that belong to it: the first part that matches counts.
 * Drizzle's own source maps name its files without its directory.
 */
type Parts = readonly (readonly [part: string, files: RegExp])[];

const PARTS: Parts = [
  ["log line", /(?:^|\/)src\/lib\/log\.ts$/],
  ["frame: src/app.ts, src/context.ts", /(?:^|\/)src\/(?:app|context|worker|config)\.ts$/],
  ["SQL and rows: Drizzle, src/db", /node_modules\/(?:drizzle-orm|src)\/|(?:^|\/)src\/db\//],
  ["router and middleware: Hono", /node_modules\/(?:hono|@hono)\//],
  ["validation: zod", /node_modules\/zod\//],
  ["guards: src/entrance, src/auth", /(?:^|\/)src\/(?:entrance|auth)\/|\/api\/guards\//],
  ["shapes: src/shapes", /(?:^|\/)src\/shapes\//],
  ["git engine: src/git", /(?:^|\/)src\/git\//],
  ["storage: src/storage", /(?:^|\/)src\/storage\//],
  ["events: src/events", /(?:^|\/)src\/events\//],
  ["operations: src/domain", /(?:^|\/)src\/domain\//],
  ["jobs: src/jobs", /(?:^|\/)src\/jobs\//],
  ["doors: src/api, git-http, registries, web", /(?:^|\/)src\/(?:api|git-http|registries|web)\//],
  ["rendering: src/render", /(?:^|\/)src\/render\//],
  ["leaves: src/lib", /(?:^|\/)src\/lib\//],
  ["outgoing: src/outgoing", /(?:^|\/)src\/outgoing\//],
];

/**
 * The parts of a push, which is most of the engine's work: WebAssembly and the runtime's own
 * modules count as files.
 */
export const PUSH_PARTS: Parts = [
  ["kernel: wasm/", /^wasm:/],
  // Calls into the platform may count for their callers.
  [
    "hashing and zlib of the platform",
    /^node(?:-internal)?:|(?:^|\/)src\/(?:git\/object\/hash-object|storage\/codec)\.ts$/,
  ],
  ["checks: src/git/object", /(?:^|\/)src\/git\/object\//],
  ["links: src/git/sidecar", /(?:^|\/)src\/git\/sidecar\//],
  ["passes: src/git/pack, zlib, hash", /(?:^|\/)src\/git\/(?:pack|zlib|hash)\//],
  ["reads of objects: src/git/catalog, walk", /(?:^|\/)src\/git\/(?:catalog|walk)\//],
  ...PARTS,
];

const OTHER_LIBRARIES = "other libraries";
/** What no frame of the service's own code called. */
const RUNTIME = "the runtime, within the isolate";
const GARBAGE = "garbage collection";

type Node = Profile["nodes"][number];

/**
 * Counts samples by part. What the runtime does belongs to the function that called it, such as
 * writing a line of the log.
 *
 * @param parts PARTS, if missing.
 * @returns Samples, by part.
 */
export function countByPart(
  { nodes, samples }: Profile,
  map: SourceMap,
  parts: Parts = PARTS,
): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  );
  const partById = new Map<number, string | undefined>();
  const partOf = (node: Node | undefined): string | undefined => {
    if (!node) return RUNTIME;
    if (!partById.has(node.id)) {
      partById.set(node.id, ownPart(node, map, parts) ?? partOf(parents.get(node.id)));
    }
    return partById.get(node.id);
  };
  const counts = new Map<string, number>();
  for (const sample of samples) {
    const node = byId.get(sample);
    if (!node || node.callFrame.functionName === "(idle)") continue;
    const part = partOf(node) ?? RUNTIME;
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

/** Counts the samples in which an isolate did anything. */
export function countBusy({ nodes, samples }: Profile): number {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id),
  );
  return samples.filter((sample) => !idle.has(sample)).length;
}

/**
 * The part of a function of the bundle; undefined for one of the runtime that is no part by itself.
 */
function ownPart({ callFrame }: Node, map: SourceMap, parts: Parts): string | undefined {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  if (functionName === "(garbage collector)") return GARBAGE;
  if (!url.endsWith("worker.js")) return findPart(url, parts);
  const entry = map.findEntry(lineNumber, columnNumber);
  if (!("originalSource" in entry)) return undefined;
  return partOfFile(entry.originalSource, parts);
}

/** The part to which a file of the project belongs. */
export const partOfFile = (file: string, parts: Parts = PARTS): string =>
  findPart(file, parts) ?? OTHER_LIBRARIES;

const findPart = (file: string, parts: Parts): string | undefined =>
  parts.find(([, files]) => files.test(file))?.[0];
