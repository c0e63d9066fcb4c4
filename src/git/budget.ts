/**
 * Bounds the work of a computation whose cost its input determines, in steps. A step stands for
 * about 10 ns of processor time, such as one comparison of two lines in the innermost loop of a
 * diff.
 *
 * The engine counts what it does; the caller decides how much may be done.
 */
export interface Budget {
  /** True once all steps are used: the computation ends, or continues with a coarser result. */
  readonly isExhausted: boolean;
  /**
   * Counts steps. Never fails, so that a loop may count in blocks and check `isExhausted` between
   * them.
   *
   * @param isAhead Whether the steps are still to be taken, by work that counts them again as it
   * calls `pause`.
   */
  consume(steps: number, isAhead?: boolean): void;
  /**
   * Lets other work of the isolate run if many steps have passed since it last ran; undefined if
   * not. A loop calls it at least every few ten thousand steps.
   *
   * @param steps Steps that the budget does not bound, since the input bounds them: they only
   * count until others run.
   * @throws What the caller chose for the case that nobody waits for the result any more.
   */
  pause(steps?: number): Promise<void> | undefined;
  /**
   * A budget for a part of the work: half of the steps that are left, which also count in this
   * budget.
   */
  half(): Budget;
}

/**
 * The pauses of a budget without its limit, for work whose input is bounded otherwise; `UNLIMITED`
 * without a budget.
 */
export function withoutLimit(budget: Budget | undefined): Budget {
  if (!budget) return UNLIMITED;
  let uncounted = 0;
  const own: Budget = {
    isExhausted: false,
    consume: (steps, isAhead = false) => void (uncounted += isAhead ? 0 : steps),
    pause(steps = 0) {
      const counted = steps + uncounted;
      uncounted = 0;
      return budget.pause(counted);
    },
    half: () => own,
  };
  return own;
}

/** Without a limit and without pauses, for small work. */
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

/**
 * Does work that the input bounds, not the budget, and lets other work of the isolate run between
 * its parts.
 */
export const finishInTurns = <Result>(work: Steps<Result>, budget: Budget): Promise<Result> =>
  runInTurns(work, withoutLimit(budget));

/**
 * Counts steps, and lets other work of the isolate run if it is time. A loop awaits the result
 * only if there is one.
 */
export function giveWay(budget: Budget, steps: number): Promise<void> | undefined {
  budget.consume(steps);
  return budget.pause();
}
