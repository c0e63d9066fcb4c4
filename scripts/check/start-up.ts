import { readFile } from "node:fs/promises";

import { z } from "zod";

import { buildAssets } from "../build/assets.ts";
import { buildWorker, METAFILE } from "../build/worker.ts";
import { inProject } from "../project.ts";
import type { Check } from "./check.ts";

// The platform allows one second for the start-up, and a cold request waits for it: 100 kB of code
// take about 10 ms. `npx wrangler check startup` measures it.
const sizeMaxBytes = 2_900_000;

/** The fields of esbuild's metafile that are read here. */
export const Metafile = z.object({
  inputs: z.record(
    z.string(),
    z.object({
      imports: z.array(
        z.object({ path: z.string(), kind: z.string(), external: z.boolean().optional() }),
      ),
    }),
  ),
  outputs: z.record(
    z.string(),
    z.object({
      entryPoint: z.string().optional(),
      inputs: z.record(z.string(), z.object({ bytesInOutput: z.number() })),
    }),
  ),
});

/** Minified code that runs before the first request: all but modules imported on first use. */
export const startUp: Check = {
  name: "start-up",
  run: async () => {
    await buildAssets();
    await buildWorker();
    const size = startUpBytes(
      Metafile.parse(JSON.parse(await readFile(inProject(METAFILE), "utf8"))),
    );
    return { isOk: size <= sizeMaxBytes, detail: `${size} of ${sizeMaxBytes} bytes` };
  },
};

/** Bytes of the modules that the entry point imports, directly or through others. */
export function startUpBytes({ inputs, outputs }: z.infer<typeof Metafile>): number {
  return Object.values(outputs).reduce((sum, output) => {
    if (output.entryPoint === undefined) return sum;
    const modules = new Set([output.entryPoint]);
    for (const module of modules) {
      for (const { path, kind, external } of inputs[module]?.imports ?? []) {
        if (kind !== "dynamic-import" && !external) modules.add(path);
      }
    }
    const sizes = [...modules].map((module) => output.inputs[module]?.bytesInOutput ?? 0);
    return sizes.reduce((total, size) => total + size, sum);
  }, 0);
}
