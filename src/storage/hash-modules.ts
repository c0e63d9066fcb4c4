import type { DigestName } from "./digest-name.ts";

/** The hash functions as WebAssembly: see scripts/build/hashes.ts. */
export type HashModules = Readonly<Record<DigestName, WebAssembly.Module>>;

/** Loads the hash functions on first use, since plain Node can't import WebAssembly. */
export async function loadHashModules(): Promise<HashModules> {
  const [md5, sha1, sha256, sha512] = await Promise.all([
    import("../../dist/hashes/md5.wasm"),
    import("../../dist/hashes/sha1.wasm"),
    import("../../dist/hashes/sha256.wasm"),
    import("../../dist/hashes/sha512.wasm"),
  ]);
  return {
    md5: md5.default,
    sha1: sha1.default,
    sha256: sha256.default,
    sha512: sha512.default,
  };
}
