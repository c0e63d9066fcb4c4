import { StepBudget } from "../lib/step-budget.ts";

/** Steps of work on packs after which other requests have a turn: about 3 ms. */
const TURN_STEPS = 300_000;

/** A budget for work on packs, which takes longer than a read does and lets other requests have more turns. */
export const openPackBudget = (stepsMax = Infinity): StepBudget =>
  new StepBudget(stepsMax, { turnSteps: TURN_STEPS });
