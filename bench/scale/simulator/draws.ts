import { Random } from "../../git/history/random.ts";

/** Random numbers of the distributions that the simulation uses, all from one seed. */
export class Draws {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  /** From 0 to less than 1. */
  readonly uniform = (): number => this.#random.next();

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /**
   * A log-normal number.
   *
   * @param variation The standard deviation divided by the mean; 0 always gives the mean.
   */
  logNormal(mean: number, variation: number): number {
    if (variation === 0) return mean;
    const variance = Math.log(1 + variation * variation);
    const normal =
      Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
    return mean * Math.exp(normal * Math.sqrt(variance) - variance / 2);
  }

  /** An index, with probabilities proportional to the weights. */
  weighted(cumulative: readonly number[]): number {
    const at = this.uniform() * (cumulative.at(-1) ?? 0);
    let [low, high] = [0, cumulative.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? 0) > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** The running sums of weights, for {@link Draws.weighted}. */
export function cumulate(weights: readonly number[]): number[] {
  let sum = 0;
  return weights.map((weight) => (sum += weight));
}

/** A well-mixed integer of 32 bits that depends only on its argument. */
export function hash(value: number): number {
  let mixed = (Math.imul(value ^ 0x9e3779b9, 0x85ebca6b) ^ 0xc2b2ae35) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
