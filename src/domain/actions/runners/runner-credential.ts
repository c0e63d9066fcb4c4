import { and, eq, type SQL } from "drizzle-orm";

import { hashSecret } from "../../../auth/secret.ts";
import type { Params } from "../../../db/prepared.ts";
import { runners } from "../../../db/schema/index.ts";
import { type Failure, unauthenticated } from "../../../lib/failure.ts";

/** By what a runner proves that it is that runner. A type, so that queries take it apart. */
export type RunnerCredential = {
  readonly uuid: string;
  /** The stored form of its token. */
  readonly tokenHash: string;
};

export const runnerCredential = async (uuid: string, token: string): Promise<RunnerCredential> => ({
  uuid,
  tokenHash: await hashSecret(token),
});

/** The condition for the runner of a credential. */
export const isRunnerOf = ({ uuid, tokenHash }: Params<RunnerCredential>): SQL | undefined =>
  and(eq(runners.uuid, uuid), eq(runners.tokenHash, tokenHash));

/** Newer runners stop for good on this refusal, older ones ask again. */
export const unregistered = (): Failure => unauthenticated("unregistered runner");
