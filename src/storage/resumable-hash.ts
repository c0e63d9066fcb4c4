import { formatBase64, parseBase64 } from "../lib/base64.ts";
import { formatHex } from "../lib/hex.ts";
import type { DigestName } from "./digest-name.ts";
import type { HashModules } from "./hash-modules.ts";

/**
 * The exports of hash-wasm's modules. The hashed bytes and the digest are exchanged through one
 * buffer.
 */
interface HashExports {
  readonly memory: WebAssembly.Memory;
  /** The address of the size of the state. */
  readonly STATE_SIZE: WebAssembly.Global<"i32">;
  readonly Hash_GetBuffer: () => number;
  readonly Hash_GetState: () => number;
  readonly Hash_Init: (bits: number) => void;
  readonly Hash_Update: (bytes: number) => void;
  readonly Hash_Final: (padding: number) => void;
}

/** Size of the buffer of the modules, in bytes. */
const BUFFER_BYTES = 16 * 1024;

/** Bits of each hash, which select the function in the module of SHA-2. */
const BITS: Readonly<Record<DigestName, number>> = {
  md5: 128,
  sha1: 160,
  sha256: 256,
  sha512: 512,
};

/**
 * A hash whose state can be stored and taken up by a later request, which that of a native hash
 * can't. It takes two to three times as much processor time.
 *
 * SECURITY: the state has the last bytes that were hashed, up to 128.
 */
export class ResumableHash {
  private readonly digestBytes: number;
  private readonly exports: HashExports;

  /** @param state Of the same function, and the same build of it. */
  constructor(module: WebAssembly.Module, name: DigestName, state?: Uint8Array) {
    this.digestBytes = BITS[name] / 8;
    this.exports = new WebAssembly.Instance(module).exports as unknown as HashExports;
    this.exports.Hash_Init(BITS[name]);
    if (state) this.view().set(state);
  }

  update(bytes: Uint8Array): void {
    const { memory, Hash_GetBuffer, Hash_Update } = this.exports;
    const buffer = new Uint8Array(memory.buffer, Hash_GetBuffer(), BUFFER_BYTES);
    for (let at = 0; at < bytes.length; at += BUFFER_BYTES) {
      const piece = bytes.subarray(at, at + BUFFER_BYTES);
      buffer.set(piece);
      Hash_Update(piece.length);
    }
  }

  /** A copy of the state. */
  save(): Uint8Array {
    return this.view().slice();
  }

  /** The hash in hex. Nothing may be called after it. */
  digest(): string {
    const { memory, Hash_GetBuffer, Hash_Final } = this.exports;
    Hash_Final(0);
    return formatHex(new Uint8Array(memory.buffer, Hash_GetBuffer(), this.digestBytes));
  }

  private view(): Uint8Array {
    const { memory, STATE_SIZE, Hash_GetState } = this.exports;
    const length = new DataView(memory.buffer).getUint32(STATE_SIZE.value, true);
    return new Uint8Array(memory.buffer, Hash_GetState(), length);
  }
}

/**
 * The build of the modules whose states are kept: the package's version. States of another are not
 * taken up.
 */
export const HASH_BUILD = "hash-wasm 4.13.0";

/** The states of several hashes of the same bytes, as they are kept between requests. */
export interface HashStates {
  readonly build: string;
  /** In base64, by the name of the hash. */
  readonly states: Readonly<Record<string, string>>;
}

/** Several hashes of the same bytes. */
export class ResumableHashes<D extends DigestName> {
  private readonly hashes: readonly (readonly [D, ResumableHash])[];

  private constructor(hashes: readonly (readonly [D, ResumableHash])[]) {
    this.hashes = hashes;
  }

  /**
   * @param kept What `save` has returned; without it, nothing was hashed before.
   * @returns Undefined if it is of another build, or not of all these hashes.
   */
  static resume<D extends DigestName>(
    modules: HashModules,
    names: readonly D[],
    kept?: HashStates,
  ): ResumableHashes<D> | undefined {
    if (kept && kept.build !== HASH_BUILD) return undefined;
    const hashes: [D, ResumableHash][] = [];
    for (const name of names) {
      const state = kept && parseBase64(kept.states[name] ?? "");
      if (state?.length === 0) return undefined;
      hashes.push([name, new ResumableHash(modules[name], name, state)]);
    }
    return new ResumableHashes(hashes);
  }

  update(bytes: Uint8Array): void {
    for (const [, hash] of this.hashes) hash.update(bytes);
  }

  save(): HashStates {
    const states = this.hashes.map(([name, hash]) => [name, formatBase64(hash.save())]);
    return { build: HASH_BUILD, states: Object.fromEntries(states) };
  }

  /** The hashes in hex. Nothing may be called after it. */
  digests(): { readonly [digest in D]: string } {
    const digests = this.hashes.map(([name, hash]) => [name, hash.digest()]);
    return Object.fromEntries(digests) as { [digest in D]: string };
  }
}
