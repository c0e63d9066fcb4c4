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
  /** Who sends it; the user of the world, if missing. */
  as?: TestUser;
}

/** The events that a write records. */
export interface Announced {
  /** By the request. */
  first: readonly EventKind[];
  /** By the same request once more; none, if missing. */
  again?: readonly EventKind[];
  /** The operation that undoes it at the same path, after which it records `first` anew. */
  undoneBy?: string;
}

/** What the suites over all operations have to know of one. */
export interface Sample {
  /** Makes what must exist, and composes a request that succeeds. */
  request: (world: World) => Promise<SampleRequest>;

  /** Each operation that is no GET says so. */
  announces?: Announced;
  /** The operation only reads, though it is no GET: its input does not fit an address. */
  onlyReads?: true;

  /** The status of its answer, where the tested service has nothing to answer with, and why. */
  refusal?: { status: number; reason: string };

  /** No scope is needed for it: it shows nothing of anybody. */
  needsNoScope?: true;
  /** Callers without a credential cost no query. */
  usesNoDatabase?: true;
  /** Why it may take one round trip to the database more than others. */
  extraRound?: string;

  /** What differs in requests that lead to other SQL, each a change of the sample's own. */
  variants?: (world: World) => Promise<readonly SampleRequest[]>;

  /** Why a token for what is public gets the answer that a full one gets. */
  sameForPublicOnly?: string;
  /** Why a token bound to one repository gets the answer that a full one gets. */
  sameForBound?: string;
}

export type Samples = Readonly<Record<string, Sample>>;

/** The samples of the operations of a noun, by operation id. */
export const defineSamples = (samples: Samples): Samples => samples;

/** The same request once more records nothing. */
export const once = (...first: EventKind[]): Announced => ({ first });

/** The same request once more records the same. */
export const eachTime = (...first: EventKind[]): Announced => ({ first, again: first });

/** It is recorded again after another operation has undone it. */
export const undoneBy = (undo: string, ...first: EventKind[]): Announced => ({
  first,
  undoneBy: undo,
});

/** No row changes. */
export const NOTHING: Announced = { first: [] };
