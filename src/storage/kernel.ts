import kernelModule from "../../dist/wasm/kernel.wasm";
import { type KernelExports, PackKernel } from "../git/pack/pack-kernel.ts";

let kernel: PackKernel | undefined;

/**
 * The kernel of this isolate, which all pushes share: 1 MB of memory.
 *
 * Apart from `codec.ts`, because only a Worker can import WebAssembly; that module is also imported
 * in Node.
 */
export function openPackKernel(): PackKernel {
  kernel ??= new PackKernel(instantiate());
  return kernel;
}

function instantiate(): KernelExports {
  const { exports } = new WebAssembly.Instance(kernelModule);
  // The exports of wasm/kernel.ts, from which the module is built.
  return exports as unknown as KernelExports;
}
