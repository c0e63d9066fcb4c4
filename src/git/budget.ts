/**
 * Bounds the work of a computation whose cost its input determines, in steps. A step stands for about 10 ns of processor
 * time, such as one comparison of two lines in the innermost loop of a diff.
 *
 * The engine counts what it does; the caller decides how much may be done.
 */
export interface Budget {
  /** True once all steps are used: the computation ends, or continues with a coarser result. */
  readonly isExhausted: boolean;
  /** Counts steps. Never fails, so that a loop may count in blocks and check `isExhausted` between them. */
  consume(steps: number): void;
  /**
   * Lets other work of the isolate run if many steps have passed since it last ran; undefined if not. A loop calls it
   * at least every few hundred thousand steps.
   *
   * @throws What the caller chose for the case that nobody waits for the result any more.
   */
  pause(): Promise<void> | undefined;
  /** A budget for a part of the work: half of the steps that are left, which also count in this budget. */
  half(): Budget;
}

/** Without a limit, for work whose input the caller has bounded otherwise. */
export const UNLIMITED: Budget = {
  isExhausted: false,
  consume: () => {},
  pause: () => undefined,
  half: () => UNLIMITED,
};

/** Work in parts: yields the steps that each part took, a few ten thousand at most. */
export type Steps<Result = void> = Generator<number, Result>;

/** Does work at once, where it is small or nobody else waits. */
export function runNow<Result>(work: Steps<Result>): Result {
  for (;;) {
    const { value, done } = work.next();
    if (done) return value;
  }
}

/** Does work, and lets other work of the isolate run between its parts. */
export async function runInTurns<Result>(work: Steps<Result>, budget: Budget): Promise<Result> {
  for (;;) {
    const { value, done } = work.next();
    if (done) return value;
    const turn = giveWay(budget, value);
    if (turn) await turn;
  }
}

/** Counts steps, and lets other work of the isolate run if it is time. A loop awaits the result only if there is one. */
export function giveWay(budget: Budget, steps: number): Promise<void> | undefined {
  budget.consume(steps);
  return budget.pause();
}
