import { readFileSync } from "node:fs";
import { type KernelExports, PackKernel } from "../../../src/git/pack/pack-kernel.ts";

/**
 * The parts of the language's WebAssembly that are used here: the types of the tests of the engine
 * have none of it.
 */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

// `npm test` and `npm run fuzz` build it first.
const wasm = new WebAssembly.Module(
  readFileSync(new URL("../../../dist/wasm/kernel.wasm", import.meta.url)),
);

/** Opens the kernel that pushes use, with a memory of its own. */
export function openKernel(): PackKernel {
  return new PackKernel(openKernelExports());
}

export function openKernelExports(): KernelExports {
  return new WebAssembly.Instance(wasm).exports as KernelExports;
}
