import { readFile } from "node:fs/promises";

import { buildKernel } from "../../scripts/build/kernel.ts";
import { inProject } from "../../scripts/project.ts";
import { type KernelExports, PackKernel } from "../../src/git/pack/pack-kernel.ts";

/** Builds and opens the kernel that pushes use. */
export async function openKernel(): Promise<PackKernel> {
  await buildKernel();
  const bytes = await readFile(inProject("dist/wasm/kernel.wasm"));
  // The types of Workers know modules only, which Workers import.
  const { instance } = (await WebAssembly.instantiate(bytes)) as unknown as {
    instance: { exports: unknown };
  };
  return new PackKernel(instance.exports as KernelExports);
}
