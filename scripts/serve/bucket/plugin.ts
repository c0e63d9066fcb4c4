import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { type Plugin, ProxyNodeBinding } from "miniflare";

import { readLocalModule } from "../../build/local-bindings.ts";
import { PLUGIN, TYPE } from "./bindings.ts";

const OBJECT = { className: "LocalBucket", serviceName: PLUGIN };
const STORAGE = `${PLUGIN}:storage`;

/** Miniflare's own, of its simulator of R2. */
const SIMULATOR = {
  directory: "r2",
  uniqueKey: "miniflare-R2BucketObject",
  module: "workers/r2/bucket.worker.js",
};

type Binding = { type: string; dev?: { options?: { bucket?: unknown } } };

const bucketsOf = ({ config }: Parameters<Plugin["getNodeBindings"]>[0]): [string, string][] =>
  Object.entries<Binding>(config.env ?? {}).flatMap(([name, { type, dev }]) =>
    type === `unsafe:${TYPE}` ? [[name, String(dev?.options?.bucket)]] : [],
  );

/**
 * How the simulator hashes what it writes, and what this does instead, and how often it occurs: for
 * a file and for a part of one.
 */
const REPLACED = [
  ["new DigestingStream(algorithms)", "new PieceDigests(algorithms)", 1],
  ['new DigestingStream(["MD5"])', "new UnhashedPart()", 1],
  ["value.pipeThrough(digesting)", "digesting.passOn(value)", 2],
] as const;

/**
 * The simulator's module, which writes and hashes files by piece-digests.ts.
 *
 * @throws Error for a version of Miniflare whose simulator does that in another way.
 */
function readSimulator(): string {
  const miniflare = dirname(createRequire(import.meta.url).resolve("miniflare"));
  let text = readFileSync(join(miniflare, SIMULATOR.module), "utf8");
  for (const [simulator, own, count] of REPLACED) {
    const parts = text.split(simulator);
    if (parts.length !== 1 + count) {
      throw new Error(`${simulator} is not in Miniflare's simulator as before`);
    }
    text = parts.join(own);
  }
  return `import { PieceDigests, UnhashedPart } from "./piece-digests.js";\n${text}`;
}

const plugin: Plugin = {
  bindingTypeDescription: "local bucket",
  getBindings: (options) =>
    bucketsOf(options).map(([name, bucket]) => ({
      name,
      r2Bucket: { name: OBJECT.serviceName, props: { json: JSON.stringify({ bucket }) } },
    })),
  getNodeBindings: (options) =>
    Object.fromEntries(bucketsOf(options).map(([name]) => [name, new ProxyNodeBinding()])),
  getServices: async ({ options, tmpPath, sharedOptions }) => {
    if (bucketsOf(options).length === 0) return undefined;
    const path = join(sharedOptions.resourcePersistencePath ?? tmpPath, SIMULATOR.directory);
    await mkdir(path, { recursive: true });
    return [
      { name: STORAGE, disk: { path, writable: true } },
      {
        name: OBJECT.serviceName,
        worker: {
          // Those of the simulator, whose module is part of this Worker.
          compatibilityDate: "2023-07-24",
          compatibilityFlags: ["nodejs_compat", "experimental"],
          modules: [
            { name: "object.js", esModule: readLocalModule("bucket/object") },
            { name: "simulator.js", esModule: readSimulator() },
            { name: "piece-digests.js", esModule: readLocalModule("bucket/piece-digests") },
          ],
          bindings: [
            { name: "objects", durableObjectNamespace: OBJECT },
            { name: "files", service: { name: STORAGE } },
            // The simulator's name of it.
            { name: "MINIFLARE_BLOBS", service: { name: STORAGE } },
          ],
          // The simulator's paths: its table and its files are used as they are.
          durableObjectNamespaces: [
            { className: OBJECT.className, uniqueKey: SIMULATOR.uniqueKey, preventEviction: true },
          ],
          durableObjectStorage: { localDisk: STORAGE },
        },
      },
    ];
  },
};

/** Read by Miniflare. */
export const plugins = { [PLUGIN]: plugin };
