import { join } from "node:path";

import { inProject } from "../project.ts";
import { Refusal } from "../refusal.ts";
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
    // Loaded only for a build: the compiler takes a third of a second to load.
    const { default: asc } = await import("assemblyscript/asc");
    let messages = "";
    const { error } = await asc.main(
      [
        inProject(`${SOURCES}/kernel.ts`),
        "--baseDir",
        inProject("."),
        "--outFile",
        join(directory, "kernel.wasm"),
        // No allocator and no assertions: the kernel divides its memory itself, and refuses what
        // does not fit.
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
      ],
      { stderr: { write: (text) => void (messages += String(text)) } },
    );
    if (error) throw new Refusal(`wasm/ does not compile:\n${messages.trim() || error.message}`);
  });
}
