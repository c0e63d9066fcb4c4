import type { Consequence } from "../../events/consequence.ts";
import { referByCommits } from "../references/refer-by-commits.ts";

/** Everything that follows from recorded events. Each event's consequences are drawn in this order. */
export const CONSEQUENCES: readonly Consequence[] = [referByCommits];
