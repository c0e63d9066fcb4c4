/** The kinds of work that are timed separately. */
export const KINDS = [
  "read",
  "write",
  "push",
  "fetch",
  "package read",
  "publish",
  "mirror",
  "webhook",
] as const;
export type Kind = (typeof KINDS)[number];

/** The durations of all work so far, by kind. */
export class Latencies {
  readonly #byKind = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));

  note(kind: Kind, durationMs: number): void {
    this.#byKind.get(kind)?.push(durationMs);
  }

  /** Does work and notes its duration. */
  async time<Result>(kind: Kind, work: () => Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    const result = await work();
    this.note(kind, performance.now() - startedAtMs);
    return result;
  }

  /** @returns The durations in ascending order, in milliseconds. */
  of(kind: Kind): number[] {
    return (this.#byKind.get(kind) ?? []).toSorted((a, b) => a - b);
  }
}
