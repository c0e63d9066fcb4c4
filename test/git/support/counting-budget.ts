import type { Budget } from "../../../src/git/budget.ts";

/** A budget that ends without a pause. */
export class CountingBudget implements Budget {
  private left: number;

  constructor(stepsMax: number) {
    this.left = stepsMax;
  }

  get isExhausted(): boolean {
    return this.left <= 0;
  }

  consume(steps: number): void {
    this.left -= steps;
  }

  pause(): undefined {
    return undefined;
  }

  half(): Budget {
    return new CountingBudget(this.left / 2);
  }
}
