import type { Budget } from "../../../src/git/budget.ts";

/** A budget that measures how many steps are counted between two pauses. */
export class MeasuredTurns implements Budget {
  readonly isExhausted = false;
  total = 0;
  longest = 0;
  private turn = 0;

  consume(steps: number): void {
    this.total += steps;
    this.turn += steps;
    this.longest = Math.max(this.longest, this.turn);
  }

  pause(): undefined {
    this.turn = 0;
  }

  half(): Budget {
    return this;
  }
}
