import { tooManyRequests } from "../lib/failure.ts";
import { IsolateRateLimiter, type RateLimiter, WINDOW_MS } from "./rate-limiter.ts";
import { hashSecret } from "./secret.ts";

/**
 * The limits by name, and the limiter of an isolate without the binding, with the same limit as in
 * wrangler.toml.
 */
const isolateLimiters = {
  /** Registrations from an address. */
  SIGN_UPS: new IsolateRateLimiter(5),
  /** Passwords that are asked for anew, from an address and for an address of mail. */
  PASSWORD_RESETS: new IsolateRateLimiter(5),
  /** Requests by which an account adds addresses, each of which gets a mail. */
  ADDRESS_ADDITIONS: new IsolateRateLimiter(20),
  /** Access tokens that are made for an account: administrators make them for very many. */
  TOKEN_CREATIONS: new IsolateRateLimiter(60),
  /** Tests of webhooks that an account sends. */
  WEBHOOK_TESTS: new IsolateRateLimiter(60),
  /** Texts that an account has rendered. */
  RENDERINGS: new IsolateRateLimiter(300),
  /** Clients of OAuth that register themselves from an address. */
  CLIENT_REGISTRATIONS: new IsolateRateLimiter(20),
  /** Documents about clients of OAuth that are read for an account. */
  CLIENT_DOCUMENTS: new IsolateRateLimiter(20),
  /** Searches of anonymous callers from an address. */
  ANONYMOUS_SEARCHES: new IsolateRateLimiter(60),
} as const;

/** An action that is limited; also the name of its binding. */
export type LimitedAction = keyof typeof isolateLimiters;

/** Bindings of the platform that count; a missing one is counted by each isolate for itself. */
export type LimitBindings = Partial<Record<LimitedAction, RateLimiter>>;

/** Limits how often an action is done in a minute, by whom or from where. */
export class RateLimits {
  /** Whether anything was counted: the next request like this one must be counted, too. */
  hasCounted = false;
  readonly #bindings: LimitBindings;

  constructor(bindings: LimitBindings) {
    this.#bindings = bindings;
  }

  /**
   * Counts an action.
   *
   * @param key Who does it, or from where; undefined where that is not known, which counts nothing:
   * one counter for all such callers would let one of them stop the others.
   * @throws Failure `too_many` over the limit.
   */
  async count(action: LimitedAction, key: string | undefined): Promise<void> {
    this.hasCounted = true;
    if (key === undefined) return;
    const limiter: RateLimiter = this.#bindings[action] ?? isolateLimiters[action];
    // SECURITY: hashed, since the platform stores keys.
    const { success } = await limiter.limit({ key: await hashSecret(`${action} ${key}`) });
    if (!success) throw tooManyRequests("Too many requests, try again later.", WINDOW_MS / 1000);
  }
}
