import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { createMD5, createSHA1, createSHA256, createSHA512 } from "hash-wasm";

import { whenChanged } from "./when-changed.ts";

const MAKERS = { md5: createMD5, sha1: createSHA1, sha256: createSHA256, sha512: createSHA512 };

/**
 * Builds dist/hashes: the WebAssembly modules of hash functions, from the package that contains
 * them as texts. It compiles them when it is used, which Workers do not allow, so they are taken as
 * it does.
 */
export async function buildHashes(): Promise<void> {
  await whenChanged(
    "dist/hashes",
    ["package-lock.json", "scripts/build/hashes.ts"],
    async (directory) => {
      for (const [name, make] of Object.entries(MAKERS)) {
        await writeFile(join(directory, `${name}.wasm`), await bytesCompiledBy(make));
      }
    },
  );
}

/** The WebAssembly that a function compiles. */
async function bytesCompiledBy(make: () => Promise<unknown>): Promise<Uint8Array> {
  const { compile } = WebAssembly;
  let compiled: Uint8Array | undefined;
  WebAssembly.compile = (bytes) => {
    compiled = new Uint8Array(bytes as ArrayBuffer);
    return compile(bytes);
  };
  try {
    await make();
  } finally {
    WebAssembly.compile = compile;
  }
  if (!compiled) throw new Error("the package of hash functions has compiled nothing");
  return compiled;
}
