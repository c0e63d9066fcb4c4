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
