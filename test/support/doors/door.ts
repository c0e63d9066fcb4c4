import type { Answer } from "../call.ts";

/** Usual requests of a door of the service. */
export interface Door<Place = unknown> {
  /** Makes what its requests are about. */
  readonly open: () => Promise<Place>;
  /** The requests by their titles. What is written has the number of the turn in its name. */
  readonly requests: Readonly<Record<string, (place: Place, turn: number) => Promise<Answer>>>;
}

/** Names what a door's place is. */
export const door = <Place>(made: Door<Place>): Door => made as Door;
