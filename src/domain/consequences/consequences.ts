import type { Consequence } from "../../events/consequence.ts";
import { notify } from "../notifications/notify.ts";

/** Everything that follows from recorded events. Each event's consequences are drawn in this order. */
export const CONSEQUENCES: readonly Consequence[] = [notify];
