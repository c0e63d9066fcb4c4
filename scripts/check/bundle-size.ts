import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

import { buildAssets } from "../build/assets.ts";
import { moduleNames } from "../build/modules.ts";
import { buildWorker, workerDirectory } from "../build/worker.ts";
import { inProject } from "../project.ts";
import type { Check } from "./check.ts";

// The smallest plan allows 3 MB: the rest is reserved for fixes of a release.
const sizeMaxBytes = 2_500_000;

/** The Worker's modules, minified and compressed as they are uploaded. */
export const bundleSize: Check = {
  name: "bundle-size",
  run: async () => {
    await buildAssets();
    await buildWorker();
    const names = await moduleNames();
    const modules = names.map((name) => readFile(inProject(`${workerDirectory}/${name}`)));
    const sizes = (await Promise.all(modules)).map((bytes) => gzipSync(bytes).length);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return { isOk: total <= sizeMaxBytes, detail: `${total} of ${sizeMaxBytes} bytes, compressed` };
  },
};
