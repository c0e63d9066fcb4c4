import { ExpiringMap } from "../lib/expiring-map.ts";
import { tooManyRequests } from "../lib/failure.ts";
import { IsolateRateLimiter, type RateLimiter, WINDOW_MS } from "./rate-limiter.ts";
import { hashSecret } from "./secret.ts";

/** Names and addresses that an isolate remembers. */
const REMEMBERED_MAX = 10_000;

/** Names and addresses that exceeded their limit, until they may try again. */
const blocked = new ExpiringMap<true>(REMEMBERED_MAX);

/** Wrong passwords in a window, as in wrangler.toml. Many callers may share one address. */
const isolateLimiters = {
  account: new IsolateRateLimiter(10),
  address: new IsolateRateLimiter(50),
};

/** An attempt to sign in by a password. */
export interface SignInAttempt {
  /** The name as sent. */
  readonly name: string;
  /** The network that the request came from; undefined where nobody trustworthy states it. */
  readonly network: string | undefined;
}

/**
 * Counts wrong passwords by the name that was tried and by the address they came from, and refuses
 * further attempts until the window is over.
 *
 * The platform counts for all isolates of a location, but answers only when it is asked to count
 * one more: an isolate learns of an exceeded limit by its own next failure, and remembers it.
 *
 * SECURITY: names count as they were sent, whether or not an account has them, and a login name
 * apart from an email address: a limit that they shared would reveal that they belong together.
 */
export class SignInFailures {
  private readonly limiters: Readonly<Record<"account" | "address", RateLimiter>>;

  constructor(account?: RateLimiter, address?: RateLimiter) {
    this.limiters = {
      account: account ?? isolateLimiters.account,
      address: address ?? isolateLimiters.address,
    };
  }

  /** @throws Failure `too_many` for a name or an address with too many wrong passwords. */
  async refuseBlocked(attempt: SignInAttempt): Promise<void> {
    const now = Date.now();
    for (const { key } of await this.keysOf(attempt)) {
      const until = blocked.expiryOf(key, now);
      if (until !== undefined) throw refusal(until - now);
    }
  }

  /**
   * Counts a wrong password.
   *
   * @throws Failure `too_many` if it is over a limit.
   */
  async count(attempt: SignInAttempt): Promise<void> {
    const keys = await this.keysOf(attempt);
    const outcomes = await Promise.all(
      keys.map(({ limiter, key }) => this.limiters[limiter].limit({ key })),
    );
    const exceeded = keys.filter((_, at) => !outcomes[at]?.success);
    for (const { key } of exceeded) blocked.set(key, true, Date.now() + WINDOW_MS);
    if (exceeded.length > 0) throw refusal(WINDOW_MS);
  }

  /**
   * The counters of an attempt.
   *
   * SECURITY: hashed, since people type passwords where a name belongs, and the platform stores
   * keys.
   */
  private async keysOf({ name, network }: SignInAttempt) {
    const account = await hashSecret(`account ${name.toLowerCase()}`);
    const address = network === undefined ? undefined : await hashSecret(`address ${network}`);
    return [
      { limiter: "account" as const, key: account },
      ...(address === undefined ? [] : [{ limiter: "address" as const, key: address }]),
    ];
  }
}

const refusal = (waitMs: number) =>
  tooManyRequests(
    "too many wrong passwords, try again later or use a token",
    Math.ceil(waitMs / 1000),
  );
