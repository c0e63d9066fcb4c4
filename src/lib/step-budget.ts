import { nextTask } from "./next-task.ts";

/** Steps after which other requests have a turn: about 20 ms. */
const TURN_STEPS = 2_000_000;

/** The caller closed the connection before the response: nobody waits for the result. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
    this.name = "CallerLeft";
  }
}

/** What a budget reports to, and when its work ends early. */
export interface StepBudgetOptions {
  /** Aborted when the caller leaves. */
  readonly signal?: AbortSignal | undefined;
  /** Receives all steps as they are counted. */
  readonly onSteps?: (steps: number) => void;
  /** Called when the budget is exhausted. */
  readonly onExceeded?: () => void;
  /** Steps after which other requests have a turn; `TURN_STEPS` if missing. */
  readonly turnSteps?: number;
}

/**
 * A number of steps that a computation may take; a step is about 10 ns of processor time (see `Budget` of the engine,
 * which this class implements).
 *
 * Steps instead of time: the same input always ends at the same point, so the result can be cached and tested.
 */
export class StepBudget {
  /** True if this budget or a part of it was exhausted at any time, so that the result is coarser than it would be. */
  wasExceeded = false;
  private left: number;
  private turn: number;
  private readonly turnSteps: number;
  private readonly options: StepBudgetOptions;

  constructor(stepsMax: number, options: StepBudgetOptions = {}) {
    this.left = stepsMax;
    this.options = options;
    this.turnSteps = options.turnSteps ?? TURN_STEPS;
    this.turn = this.turnSteps;
  }

  get isExhausted(): boolean {
    return this.left <= 0;
  }

  consume(steps: number): void {
    this.left -= steps;
    this.turn -= steps;
    this.options.onSteps?.(steps);
    if (this.left <= 0 && !this.wasExceeded) this.markExceeded();
  }

  /**
   * Yields to the event loop once every `turnSteps`; otherwise returns undefined.
   *
   * @throws CallerLeft if the caller has left meanwhile.
   */
  pause(): Promise<void> | undefined {
    if (this.turn > 0) return undefined;
    this.turn = this.turnSteps;
    return this.yield();
  }

  half(): StepBudget {
    const { signal, turnSteps = TURN_STEPS } = this.options;
    return new StepBudget(Math.max(0, this.left / 2), {
      signal,
      turnSteps,
      onSteps: (steps) => this.consume(steps),
      onExceeded: () => this.markExceeded(),
    });
  }

  private markExceeded(): void {
    this.wasExceeded = true;
    this.options.onExceeded?.();
  }

  private async yield(): Promise<void> {
    await nextTask();
    if (this.options.signal?.aborted) throw new CallerLeft();
  }
}
