import type { Oid } from "../oid.ts";
import type { RoundAnswer } from "./fetch-reader.ts";

/** Haves of the first round; each further one has twice as many. */
const FIRST_ROUND = 16;
const ROUND_MAX = 16_384;

/**
 * Haves without one that the server has, after which it is not asked further if it had one before.
 * As in git.
 */
const IN_VAIN_MAX = 256;

/** Maximum haves of all rounds: a server with which so many are not common is sent none more. */
const HAVES_MAX = 60_000;

/** The haves that a round sends. */
export interface Round {
  /** All that the server acknowledged so far, since it forgets over HTTP, and then the new ones. */
  readonly haveOids: readonly Oid[];
  /** The server is to send the pack whatever it has. */
  readonly isDone: boolean;
}

/**
 * Which of its objects a client names to a server, in rounds, until the server knows enough: a
 * server to which each request is the first, as over HTTP.
 *
 * @see Git's `fetch-pack.c`, whose bounds these are, except for the total.
 */
export class Negotiation {
  private readonly haves: Iterator<Oid> | AsyncIterator<Oid>;
  private readonly onCommon: (oid: Oid) => void;
  private readonly commonOids = new Set<Oid>();
  private readonly sentOids = new Set<Oid>();
  private roundSize = FIRST_ROUND;
  private inVain = 0;
  private isReady = false;

  /**
   * @param haves    Newest first.
   * @param onCommon Called for each that the server has too, so that `haves` may leave out what it
   *   reaches.
   */
  constructor(haves: Iterable<Oid> | AsyncIterable<Oid>, onCommon: (oid: Oid) => void = () => {}) {
    this.haves =
      Symbol.asyncIterator in haves ? haves[Symbol.asyncIterator]() : haves[Symbol.iterator]();
    this.onCommon = onCommon;
  }

  /** The next round. The round after one that is done must not be asked for. */
  async next(): Promise<Round> {
    const common = [...this.commonOids];
    const added: Oid[] = [];
    const isInVain = this.inVain >= IN_VAIN_MAX && common.length > 0;
    if (!this.isReady && !isInVain) {
      const size = Math.min(this.roundSize, HAVES_MAX - this.sentOids.size);
      while (added.length < size) {
        const { value, done } = await this.haves.next();
        if (done) break;
        if (this.sentOids.has(value)) continue;
        this.sentOids.add(value);
        added.push(value);
      }
    }
    this.roundSize = Math.min(2 * this.roundSize, ROUND_MAX);
    this.inVain += added.length;
    // The last haves still have a round of their own, since the server may be ready after it.
    return { haveOids: [...common, ...added], isDone: added.length === 0 };
  }

  /** Takes the answer to a round. Acknowledgments of what was not sent count for nothing. */
  take({ commonOids, isReady }: Pick<RoundAnswer, "commonOids" | "isReady">): void {
    for (const oid of commonOids) {
      if (!this.sentOids.has(oid) || this.commonOids.has(oid)) continue;
      this.commonOids.add(oid);
      this.inVain = 0;
      this.onCommon(oid);
    }
    if (isReady) this.isReady = true;
  }

  /** All haves at once, for servers that acknowledge one only. */
  async all(max: number): Promise<Round> {
    const haveOids: Oid[] = [];
    while (haveOids.length < max) {
      const { value, done } = await this.haves.next();
      if (done) break;
      haveOids.push(value);
    }
    return { haveOids, isDone: true };
  }
}
