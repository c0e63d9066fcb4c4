import type { Actor } from "./auth/actor.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/db.ts";
import type { EventQueues } from "./storage/event-queues.ts";
import type { Outgoing } from "./outgoing/outgoing.ts";
import type { GitStorage } from "./storage/storage.ts";

/** Everything an operation may reach. */
export interface Ctx {
  config: Config;
  db: Database;
  git: GitStorage;
  eventQueues: EventQueues;
  /** The one way to other hosts. */
  outgoing: Outgoing;
  /** On whose behalf. */
  actor: Actor;
  /** The service's own address, without a trailing slash. */
  rootUrl: string;
  /** The moment of the request, in milliseconds. */
  now: number;
  /** Lets work go on after the answer is sent: what nobody waits for and a repeat would mend. */
  defer(work: Promise<unknown>): void;
}

/** What a request has before anybody knows who it is from. */
export type BaseCtx = Omit<Ctx, "actor">;
