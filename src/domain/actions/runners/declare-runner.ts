import type { Ctx } from "../../../context.ts";
import { boundRow, type BoundRow } from "../../../db/bound-row.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type Runner, runners } from "../../../db/schema/index.ts";
import { isRunnerOf, type RunnerCredential, unregistered } from "./runner-credential.ts";
import { readDescription, type RunnerDescription } from "./runner-description.ts";

/**
 * Replaces what a runner said of itself, when it starts.
 *
 * @throws Failure `unauthenticated` for an unknown runner, `invalid` for labels that are too long
 *   or too many.
 */
export async function declareRunner(
  { db, now }: Ctx,
  credential: RunnerCredential,
  description: RunnerDescription,
): Promise<Runner> {
  const row = boundRow(runners, { ...readDescription(description), lastOnlineAt: now });
  const [runner] = await described(db, { credential, row });
  if (!runner || runner.endedAt !== null) throw unregistered();
  return runner;
}

interface Described {
  readonly credential: RunnerCredential;
  readonly row: BoundRow<RunnerDescription & Pick<Runner, "lastOnlineAt">>;
}

const described = prepare((db, { credential, row }: Params<Described>) =>
  db.update(runners).set(row).where(isRunnerOf(credential)).returning(),
);
