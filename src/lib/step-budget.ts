import { consumeSlice, pause } from "./time-slice.ts";

/** The caller closed the connection before the response: nobody waits for the result. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
    this.name = "CallerLeft";
  }
}

/** The receiver of a budget's reports, and the signal that ends its work early. */
export interface StepBudgetOptions {
  /** Aborted when the caller leaves. */
  readonly signal?: AbortSignal | undefined;
  /** Lets requests come first, for work that nobody waits for: awaited at each pause. */
  readonly untilIdle?: (() => Promise<void>) | undefined;
  /** Receives all steps as they are counted. */
  readonly onSteps?: (steps: number) => void;
}

/**
 * A number of steps that a computation may take; a step is about 10 ns of processor time (see
 * `Budget` of the engine, which this class implements).
 *
 * Steps instead of time: the same input always ends at the same point, so the result can be cached
 * and tested.
 */
export class StepBudget {
  /**
   * True if this budget or a part of it was exhausted at any time, so that the result is coarser
   * than it would be.
   */
  wasExceeded = false;
  private left: number;
  private readonly options: StepBudgetOptions;
  /** The budget of which this one is a part. */
  private readonly whole: StepBudget | undefined;

  constructor(stepsMax: number, options: StepBudgetOptions = {}, whole?: StepBudget) {
    this.left = stepsMax;
    this.options = options;
    this.whole = whole;
  }

  get isExhausted(): boolean {
    return this.left <= 0;
  }

  consume(steps: number, isAhead = false): void {
    this.left -= steps;
    if (this.whole) this.whole.consume(steps, isAhead);
    else if (!isAhead) consumeSlice(steps);
    this.options.onSteps?.(steps);
    if (this.left <= 0 && !this.wasExceeded) this.markExceeded();
  }

  /**
   * Lets other requests run if a slice of work is done; otherwise returns undefined.
   *
   * @param steps Steps that the budget does not bound.
   * @throws CallerLeft if the caller has left meanwhile.
   */
  pause(steps?: number): Promise<void> | undefined {
    const pausing = pause(steps);
    return pausing && this.resume(pausing);
  }

  half(): StepBudget {
    const { signal, untilIdle } = this.options;
    return new StepBudget(Math.max(0, this.left / 2), { signal, untilIdle }, this);
  }

  private markExceeded(): void {
    this.wasExceeded = true;
    this.whole?.markExceeded();
  }

  private async resume(pausing: Promise<void>): Promise<void> {
    await pausing;
    await this.options.untilIdle?.();
    if (this.options.signal?.aborted) throw new CallerLeft();
  }
}
