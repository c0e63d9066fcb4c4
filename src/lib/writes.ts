/**
 * What a write may touch, or a read has seen. A write of `quiet` touches only data from which
 * hardly anything follows that is kept, such as deliveries; a read of `quiet` has seen such data
 * besides all other.
 */
export type WriteScope = "quiet" | "all";

/**
 * How long a write counts as under way at most, in milliseconds: the promise of one whose request
 * was cancelled never settles.
 */
const UNDER_WAY_MS_MAX = 60_000;

/** The state of the writes of an isolate at a moment. */
export interface WriteMark {
  readonly all: number;
  readonly quiet: number;
}

/** Writes of one scope. */
class Sequence {
  #begun = 0;
  readonly #underWay = new Map<number, number>();

  begin(now: number): () => void {
    const id = ++this.#begun;
    this.#underWay.set(id, now);
    return () => void this.#underWay.delete(id);
  }

  /** The number of the last write that began; NaN, which equals nothing, while one is under way. */
  mark(now: number): number {
    for (const [id, since] of this.#underWay) {
      if (now < since + UNDER_WAY_MS_MAX) return Number.NaN;
      this.#underWay.delete(id);
    }
    return this.#begun;
  }
}

/**
 * The writes that an isolate sends, by which it knows whether what it has read is still so.
 *
 * A result is current while `isSince` holds for a mark that was taken before its read began: no
 * write has begun since then, and none was under way.
 */
export class Writes {
  readonly #sequences: Record<WriteScope, Sequence> = {
    all: new Sequence(),
    quiet: new Sequence(),
  };

  mark(now = Date.now()): WriteMark {
    return { all: this.#sequences.all.mark(now), quiet: this.#sequences.quiet.mark(now) };
  }

  /** Runs a write. */
  async follow<T>(scope: WriteScope, write: () => Promise<T>): Promise<T> {
    const end = this.#sequences[scope].begin(Date.now());
    try {
      return await write();
    } finally {
      end();
    }
  }

  /**
   * Whether nothing of the scope was written since a mark.
   *
   * @param scope What was read: with `quiet`, what is quiet besides all else.
   */
  isSince({ all, quiet }: WriteMark, scope: WriteScope, now = Date.now()): boolean {
    if (this.#sequences.all.mark(now) !== all) return false;
    return scope === "all" || this.#sequences.quiet.mark(now) === quiet;
  }
}

/** The writes of this isolate. */
export const isolateWrites = new Writes();
