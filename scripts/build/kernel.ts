import { join } from "node:path";

import { Refusal } from "../refusal.ts";
import { run } from "../tools/run.ts";
import { whenChanged } from "./when-changed.ts";

/** The directory of AssemblyScript sources, and that of the WebAssembly compiled from them. */
const SOURCES = "wasm";
const OUTPUT = "dist/wasm";

/** Pages of 64 KB: wasm/layout.ts divides them. */
const MEMORY_PAGES = 16;

/**
 * Builds dist/wasm/kernel.wasm from the AssemblyScript in wasm/.
 *
 * @throws Refusal with the compiler's messages.
 */
export async function buildKernel(): Promise<void> {
  const sources = [SOURCES, "node_modules/assemblyscript/package.json", "scripts/build/kernel.ts"];
  await whenChanged(OUTPUT, sources, async (directory) => {
    const compiler = "node_modules/assemblyscript/bin/asc.js";
    const { code, output } = await run("node", [
      // The optimizer is WebAssembly, which ends before V8 has gained anything by optimizing it.
      "--liftoff-only",
      compiler,
      `${SOURCES}/kernel.ts`,
      "--outFile",
      join(directory, "kernel.wasm"),
      // No allocator and no assertions: the kernel divides its memory itself, and refuses what does
      // not fit.
      "-O3",
      "--runtime",
      "stub",
      "--noAssert",
      "--enable",
      "simd",
      "--initialMemory",
      `${MEMORY_PAGES}`,
      "--maximumMemory",
      `${MEMORY_PAGES}`,
    ]);
    if (code !== 0) throw new Refusal(`wasm/ does not compile:\n${output.trim()}`);
  });
}
