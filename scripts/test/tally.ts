import { z } from "zod";

import { Costs } from "./ledger.ts";

const Tally = z.object({ passed: z.number(), failed: z.number(), skipped: z.number() });

/** How many tests of a run ended in which way. */
export type Tally = z.infer<typeof Tally>;

const Account = z.object({ tally: Tally, costs: Costs });

/** What a process of a run has to say of it at the end. */
export type Account = z.infer<typeof Account>;

/** The line that closes a run: `12 passed, 0 failed`, and `, 3 skipped` if any were. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}

/** @returns undefined for anything but what JSON.stringify makes of an account. */
export function parseAccount(json: string): Account | undefined {
  try {
    return Account.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** The account of processes that shared a run. */
export function sumUp(accounts: readonly Account[]): Account {
  const total = (key: keyof Tally): number =>
    accounts.reduce((sum, { tally }) => sum + tally[key], 0);
  return {
    tally: { passed: total("passed"), failed: total("failed"), skipped: total("skipped") },
    costs: Object.assign({}, ...accounts.map(({ costs }) => costs)),
  };
}
