/** A granted lease on a ref. */
export interface RefLease {
  readonly id: string;
  /** Whether others had it before, so that what the holder read may have changed. */
  readonly hasWaited: boolean;
}

/** A lease in force, and who waits for the ref. */
interface LeasedRef {
  readonly id: string;
  readonly expiry: ReturnType<typeof setTimeout>;
  /** In the order in which they asked. Each is called with the id of its lease. */
  readonly waiting: Set<(id: string) => void>;
}

/**
 * Leases on refs: those who are about to update the same ref get it one after another, in the order
 * in which they ask.
 *
 * A lease is advice: it saves work that another update would make void, and no update is refused
 * for want of one. So leases are in memory only, and one that nobody releases ends after a time.
 */
export class RefLeases {
  private readonly refs = new Map<string, LeasedRef>();
  private readonly leaseMs: number;

  /** @param leaseMs How long a lease lasts at most, in milliseconds. */
  constructor(leaseMs: number) {
    this.leaseMs = leaseMs;
  }

  /**
   * Acquires the lease on a ref.
   *
   * @param waitMs Maximum time to wait for it, in milliseconds.
   * @returns Undefined if others have it until then.
   */
  async acquire(ref: string, waitMs: number): Promise<RefLease | undefined> {
    const leased = this.refs.get(ref);
    if (!leased) return { id: this.grant(ref, new Set()), hasWaited: false };
    const { waiting } = leased;
    const id = await new Promise<string | undefined>((resolve) => {
      const timeout = setTimeout(() => {
        waiting.delete(onGrant);
        resolve(undefined);
      }, waitMs);
      const onGrant = (granted: string): void => {
        clearTimeout(timeout);
        resolve(granted);
      };
      waiting.add(onGrant);
    });
    return id === undefined ? undefined : { id, hasWaited: true };
  }

  /** Ends a lease if it is in force. */
  release(ref: string, id: string): void {
    const leased = this.refs.get(ref);
    if (leased?.id !== id) return;
    clearTimeout(leased.expiry);
    const [next] = leased.waiting;
    if (!next) {
      this.refs.delete(ref);
      return;
    }
    leased.waiting.delete(next);
    next(this.grant(ref, leased.waiting));
  }

  private grant(ref: string, waiting: LeasedRef["waiting"]): string {
    const id = crypto.randomUUID();
    const expiry = setTimeout(() => this.release(ref, id), this.leaseMs);
    this.refs.set(ref, { id, expiry, waiting });
    return id;
  }
}
