import type { Actor } from "./auth/actor.ts";
import type { RateLimits } from "./auth/rate-limits.ts";
import type { SignInFailures } from "./auth/sign-in-failures.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/db.ts";
import type { EventQueues } from "./storage/event-queues.ts";
import type { RemoteJobs } from "./storage/remote-jobs.ts";
import type { Kept } from "./storage/kept.ts";
import type { Mailer } from "./outgoing/mailer.ts";
import type { Outgoing } from "./outgoing/outgoing.ts";
import type { GitStorage } from "./storage/storage.ts";

/** Everything an operation may reach. */
export interface Ctx {
  config: Config;
  db: Database;
  git: GitStorage;
  eventQueues: EventQueues;
  /** Queues the work of mirrors and imports. */
  remoteJobs: RemoteJobs;
  /** Sends mail. */
  mailer: Mailer;
  /** Sends every request to another host. */
  outgoing: Outgoing;
  /** The account on whose behalf the operation runs. */
  actor: Actor;
  /** The base URL of links in the answer to the caller, without a trailing slash. */
  rootUrl: string;
  /**
   * The base URL in everything that others than the caller read: events, payloads, stored data,
   * commits.
   *
   * SECURITY: unlike `rootUrl`, it never comes from a `Host` header that a caller may forge.
   */
  publicUrl: string;
  /** Where the request came from. */
  client: Client;
  /** The time of the request, in milliseconds. */
  now: number;
  /**
   * Continues work after the response is sent. Only for work that may be lost and is repeated then.
   */
  defer(work: Promise<unknown>): void;
  /**
   * Notes that the answer counted as a download of a version of a package: it counts again when it
   * is sent again.
   */
  noteDownload?(versionId: number): void;
}

/** Where a request came from, for the audit log. */
interface Client {
  /** The address; undefined where nobody trustworthy states it, and for work of the service. */
  readonly address: string | undefined;
  /** The id of the request, as in `X-Request-Id` and in the log; "" for work of the service. */
  readonly requestId: string;
}

/** The context of a request before the caller is authenticated. */
export interface BaseCtx extends Omit<Ctx, "actor"> {
  /** What guards found a moment ago; undefined for a request that writes. */
  guards: Kept<object> | undefined;
  /** Counts wrong passwords, for all requests. */
  signInFailures: SignInFailures;
  /** Counts what is limited, for all requests. */
  rateLimits: RateLimits;
  /** The network that the request came from; undefined where nobody trustworthy states it. */
  network: string | undefined;
}
