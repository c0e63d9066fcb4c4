import type { Consequence } from "../../events/consequence.ts";

/** Everything that follows from recorded events. Each event's consequences are drawn in this order. */
export const CONSEQUENCES: readonly Consequence[] = [];
