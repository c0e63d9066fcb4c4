import type { EventKind } from "../../../src/shapes/events/event.ts";
import type { Sending } from "../call.ts";
import type { TestUser } from "../make.ts";
import type { World } from "./world.ts";

/** One request of an operation, as its sample composes it. */
export interface SampleRequest extends Pick<Sending, "body"> {
  json?: object;
  /** Values of the parameters of the path. */
  path?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string>>;
  /** The caller; the user of the world, if missing. */
  as?: TestUser;
}

/** The events that a write records. */
export interface RecordedEvents {
  /** Events of the first request. */
  first: readonly EventKind[];
  /** Events of the same request sent again; none, if missing. */
  again?: readonly EventKind[];
  /** The operation at the same path that undoes it, so that the request records `first` again. */
  undoneBy?: string;
}

/** What the suites over all operations need to know about an operation. */
export interface Sample {
  /** Creates the data that the request needs, and composes a request that succeeds. */
  request: (world: World) => Promise<SampleRequest>;

  /** The events that the operation records; required unless it is a GET. */
  announces?: RecordedEvents;
  /** The operation only reads although it is not a GET: its input does not fit in a URL. */
  onlyReads?: true;

  /** The status of its response and the reason, if the tested service cannot fulfil the request. */
  refusal?: { status: number; reason: string };

  /** It requires no scope, because it returns no account's data. */
  needsNoScope?: true;
  /** Callers without a credential cause no query. */
  usesNoDatabase?: true;
  /** Why its budget is one database round trip larger. */
  extraRound?: string;
  /** How many database round trips it is larger, if that is more than one. */
  extraRounds?: number;

  /** Overrides of the sample's request, one per request that leads to other SQL. */
  variants?: (world: World) => Promise<readonly SampleRequest[]>;

  /** Why a public-only token gets the same response as a full token. */
  sameForPublicOnly?: string;
  /** Why a token bound to one repository gets the same response as a full token. */
  sameForBound?: string;
}

export type Samples = Readonly<Record<string, Sample>>;

/** The samples of the operations of a noun, by operation id. */
export const defineSamples = (samples: Samples): Samples => samples;

/** The request records `first`; sent again, it records nothing. */
export const once = (...first: EventKind[]): RecordedEvents => ({ first });

/** The request records `first` each time. */
export const eachTime = (...first: EventKind[]): RecordedEvents => ({ first, again: first });

/** The request records `first`, and again after the operation `undo`. */
export const undoneBy = (undo: string, ...first: EventKind[]): RecordedEvents => ({
  first,
  undoneBy: undo,
});

/** The request changes no row and records no event. */
export const NOTHING: RecordedEvents = { first: [] };
