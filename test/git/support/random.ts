/** Pseudo-random numbers, the same in every run. */
export interface Random {
  /** Returns an integer from 0 to `bound`, exclusive. */
  below(bound: number): number;
  bytes(length: number): Uint8Array;
  /** Returns one of the elements. */
  pick<T>(from: readonly T[]): T;
}

/** Makes a generator seeded with `seed` (mulberry32). */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
    pick: (from) => {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new Error("nothing to pick from");
      return picked;
    },
  };
}
