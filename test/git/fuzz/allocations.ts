const KINDS = ["Uint8Array", "Uint16Array", "Uint32Array", "Int32Array", "Float64Array"] as const;

/**
 * Makes the allocation of typed arrays over `bytesMax` bytes throw until the returned function is
 * called. A few bytes of input that claim a large size must not cause a large allocation.
 *
 * The engine looks these constructors up on the global object at every use, so replacing the
 * globals is enough.
 */
export function boundAllocations(bytesMax: number): () => void {
  const world = globalThis as unknown as Record<string, Uint8ArrayConstructor>;
  const originals = KINDS.map((kind) => [kind, world[kind] as Uint8ArrayConstructor] as const);
  for (const [kind, original] of originals) {
    const bounded: Uint8ArrayConstructor = new Proxy(original, {
      construct(target, args: unknown[], newTarget) {
        const [length] = args;
        if (typeof length === "number" && length * original.BYTES_PER_ELEMENT > bytesMax) {
          throw new Error(`an array of ${length * original.BYTES_PER_ELEMENT} bytes`);
        }
        return Reflect.construct(target, args, newTarget === bounded ? target : newTarget);
      },
    });
    world[kind] = bounded;
  }
  return () => {
    for (const [kind, original] of originals) world[kind] = original;
  };
}
