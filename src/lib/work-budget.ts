/**
 * The work that one call of a background job may do: after so much time or so many statements the
 * rest is left to another call.
 */
export class WorkBudget {
  readonly #now: number;
  readonly #startedAt = Date.now();
  readonly #limits: { readonly ms: number; readonly statements: number };
  #statements = 0;

  /** @param now The time at which the work starts, in milliseconds. */
  constructor(now: number, limits: { readonly ms: number; readonly statements: number }) {
    this.#now = now;
    this.#limits = limits;
  }

  /** In milliseconds. */
  get now(): number {
    return this.#now + Date.now() - this.#startedAt;
  }

  get isExhausted(): boolean {
    const { ms, statements } = this.#limits;
    return this.#statements >= statements || Date.now() - this.#startedAt >= ms;
  }

  consume(statements: number): void {
    this.#statements += statements;
  }
}
