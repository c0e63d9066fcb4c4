/**
 * Ranks from 1 to `count`, each with a probability proportional to `rank ** -exponent`, by
 * rejection-inversion: a draw takes the same time for ten ranks and for ten million.
 *
 * @see W. Hörmann, G. Derflinger: Rejection-inversion to generate variates from monotone discrete
 *   distributions (1996)
 */
export class Zipf {
  readonly count: number;
  readonly exponent: number;
  /** The sum of all weights. */
  readonly total: number;
  readonly #first: number;
  readonly #last: number;
  readonly #shortcut: number;

  constructor(count: number, exponent: number) {
    this.count = count;
    this.exponent = exponent;
    this.total = sumOfWeights(count, exponent);
    this.#first = this.#integral(1.5) - 1;
    this.#last = this.#integral(count + 0.5);
    this.#shortcut = 2 - this.#inverse(this.#integral(2.5) - 2 ** -exponent);
  }

  /**
   * @param uniform Draws from 0 to less than 1; more than one is taken if the first is rejected.
   */
  draw(uniform: () => number): number {
    for (;;) {
      const at = this.#last + uniform() * (this.#first - this.#last);
      const x = this.#inverse(at);
      const rank = Math.min(this.count, Math.max(1, Math.round(x)));
      if (rank - x <= this.#shortcut || at >= this.#integral(rank + 0.5) - rank ** -this.exponent)
        return rank;
    }
  }

  /** The probability of a rank. */
  shareOf(rank: number): number {
    return rank ** -this.exponent / this.total;
  }

  /** The integral of `x ** -exponent`, without a pole at an exponent of 1. */
  #integral(x: number): number {
    const power = 1 - this.exponent;
    return Math.abs(power) < 1e-9 ? Math.log(x) : (x ** power - 1) / power;
  }

  #inverse(y: number): number {
    const power = 1 - this.exponent;
    return Math.abs(power) < 1e-9 ? Math.exp(y) : (1 + y * power) ** (1 / power);
  }
}

const EXACT = 10_000;

/** The first ranks are added; the rest is the integral, whose error is far below 0.1 %. */
function sumOfWeights(count: number, exponent: number): number {
  let sum = 0;
  const exact = Math.min(count, EXACT);
  for (let rank = 1; rank <= exact; rank++) sum += rank ** -exponent;
  if (count <= EXACT) return sum;
  const power = 1 - exponent;
  const [from, to] = [exact + 0.5, count + 0.5];
  return (
    sum + (Math.abs(power) < 1e-9 ? Math.log(to / from) : (to ** power - from ** power) / power)
  );
}
